#include "bench/imagenet/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <set>
#include <utility>

#include "bench/imagenet/config_file.h"
#include "bench/imagenet/option_values.h"
#include "bench/version.h"

namespace penstock::bench {
namespace {

// Beside the options: what must be known before they are complete.
struct Given {
  std::string config;
  std::string logdir;
};

// Adds options whose text is converted by a function that throws UsageError or penstock::Error.
class OptionAdder {
 public:
  explicit OptionAdder(CLI::App& app) : app_(app) {}

  template <class Target, class Convert>
  CLI::Option* value(const std::string& names, Target& target, Convert convert, const char* type, const char* standard,
                     const char* help) {
    const auto assign = [&target, convert, names](const std::string& text) {
      try {
        target = convert(text);
      } catch (const Error& error) {
        throw UsageError(names + ": " + error.what());
      } catch (const UsageError& error) {
        throw UsageError(names + ": " + error.what());
      }
    };
    return app_.add_option_function<std::string>(names, assign, help)->type_name(type)->default_str(standard);
  }

  CLI::Option* text(const std::string& names, std::string& target, const char* type, const char* help) {
    return app_.add_option(names, target, help)->type_name(type);
  }

  CLI::Option* flag(const std::string& names, bool& target, const char* help) {
    return app_.add_flag(names, target, help);
  }

  // Known, but of a later issue.
  void not_built(const char* name, const std::function<bool(const std::string&)>& is_built) {
    app_.add_option_function<std::string>(name,
                                          [name, is_built](const std::string& text) {
                                            if (!is_built(text))
                                              throw UsageError(std::string(name) + " " + text + ": not built yet");
                                          })
        ->group("");
  }

 private:
  CLI::App& app_;
};

void add_data_options(OptionAdder& add, ImagenetOptions& to, Given& given) {
  add.text("--data", to.data, "DIR", "Folder with *.JPEG, walked and sorted: ILSVRC's layout or flat");
  add.text("--annotations", to.annotations, "DIR", "Folder with their XML (default: Annotations beside Data)");
  add.text("--file-list", to.file_list, "FILE", "One path a line, instead of --data");
  add.text("--labels", to.labels, "FILE", "One label a line, numbered by line (default: sorted names)");
  add.text("-c,--config", given.config, "FILE", "ALCF's ilsvrc.json");
  add.value("--generate", to.generate, whole_number(1), "N", "",
            "Write N sample pictures with XML into --data, and end");
}

void add_work_options(OptionAdder& add, ImagenetOptions& to) {
  add.value("--workload", to.workload, parse_workload, "boxes|train|eval", "boxes", "What is done to a picture");
  add.value("--dtype", to.dtype, parse_dtype, "f32|f16|bf16|u8", "f32", "Type of the values");
  add.value("--layout", to.layout, parse_layout, "nhwc|nchw", "nhwc", "Order of the values");
  add.value("--batch", to.batch, whole_number(1), "N", "128", "Samples in a batch");
  add.value("--epochs", to.epochs, whole_number(1), "N", "1", "Passes over the files in a repetition");
  add.value("-n,--steps", to.steps, whole_number(1), "N", "", "Batches in a repetition (default: all)");
  add.value("--seed", to.seed, parse_seed, "N", "1", "Of the order and of random crops");
  add.value("--on-error", to.on_error, parse_error_policy, "stop|skip[:N]", "stop",
            "What a bad file does; N: at most so many");
  add.value("--boxes", to.boxes, parse_box_policy, "tf|strict|clamp", "tf",
            "Boxes that leave the picture: as TensorFlow, refused, cut");
  add.value("--dct", to.dct, parse_dct, "islow|ifast", "islow", "JPEG's inverse transform; ifast is TensorFlow's");
  add.value("--decoder", to.decoder, parse_decoder, "auto|libjpeg|own", "auto",
            "Of JPEGs; own: files that it does not take are errors");
  add.value("--simd", to.simd, parse_simd, "auto|scalar|sse4|avx2|avx512", "auto",
            "Instructions that image functions use");
  add.value("--without", to.without, parse_without, "STEPS", "",
            "Leave out some of roi,slots,stream,simd,own, to measure them");
  add.flag("--hvd", to.horovod, "Read this rank's share only (Horovod, MPI, Slurm, torchrun)");
}

void add_engine_options(OptionAdder& add, ImagenetOptions& to) {
  add.value("--cpu", to.threads, parse_cpu, "N|F%", "all", "Cores to use, or their share");
  add.value("--memory", to.memory_bytes, parse_memory, "SIZE", "free/4", "Memory for elements under way: 64M, 2G");
  add.value("--parallel", to.parallel, parse_tunable(1), "auto|N", "auto", "Pictures decoded at once");
  add.value("--open-io", to.open_io, parse_tunable(1), "auto|N", "auto", "Files read at once");
  add.value("--prefetch", to.prefetch, parse_tunable(0), "auto|N", "auto", "Batches that wait ready");
  add.flag("--serial", to.serial, "All on one thread, without the engine");
}

void add_report_options(OptionAdder& add, ImagenetOptions& to, Given& given) {
  add.value("--step-time", to.step_time, parse_time, "T", "0", "Play a consumer that takes T for a batch: 10ms");
  add.value("--step-cpu", to.step_cpu, parse_share, "F", "0", "Share of T that it computes rather than sleeps, 0..1");
  add.value("--cached-batches", to.cached_batches, whole_number(1), "N", "",
            "Serve N batches again and again: the consumer's ceiling");
  add.value("--reps", to.repetitions, whole_number(1), "N", "3", "Timed repetitions, after one that is not timed");
  add.flag("--with-unit", to.with_unit, "Measure `full decode` before and after each repetition");
  add.flag("--digest-timed", to.digest_timed, "Hash the samples of timed repetitions too");
  add.text("--stats", to.stats_file, "FILE", "Write figures of all stages as JSON");
  add.text("--trace", to.trace_file, "FILE", "Write what happened in the last repetition, for ui.perfetto.dev");
  add.text("-l,--logdir", given.logdir, "DIR", "Write them to DIR/stats.json");
  add.flag("--explain", to.explain, "Say why the last repetition was not faster");
  add.flag("--json", to.json, "One JSON object a repetition on stdout, and nothing else");
  add.flag("-q,--quiet", to.quiet, "No progress on stderr");
}

// Names of ALCF's script, and of the peers' driver.
void add_aliases(OptionAdder& add, ImagenetOptions& to) {
  add.value("--nsteps", to.steps, whole_number(1), "N", "", "")->group("");
  add.value("--interop,--threads", to.threads, parse_cpu, "N", "", "")->group("");
  add.value("--num-parallel-readers", to.parallel, parse_tunable(1), "N", "", "")->group("");
  add.value("--prefetch-buffer-size", to.prefetch, parse_tunable(0), "N", "", "")->group("");
  add.value("--intraop", to.intraop, whole_number(0), "N", "", "")->group("");
  add.flag("--straightforward", to.straightforward, "Plain loops instead of penstock: where bench/ladder starts")
      ->group("");
  add.flag("--peer", to.peer, "Speak the protocol of the peers' driver")->group("");
  add.value("--passes", to.passes, whole_number(1), "N", "1", "Of --peer")->group("");
}

void add_unbuilt_options(OptionAdder& add) {
  const auto never = [](const std::string&) { return false; };
  add.not_built("--records", never);
}

constexpr const char* footer =
    "As in ALCF's script: --nsteps is --steps, --interop is --cpu, --num-parallel-readers is "
    "--parallel,\n"
    "--prefetch-buffer-size is --prefetch; --intraop is taken without effect.\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 130 stopped by Ctrl-C.";

void describe(CLI::App& app, ImagenetOptions& to, Given& given) {
  app.get_formatter()->column_width(36);
  // Scripts put flags in front of their user's.
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.footer(footer);
  OptionAdder add(app);
  add_data_options(add, to, given);
  add_work_options(add, to);
  add_engine_options(add, to);
  add_report_options(add, to, given);
  add_aliases(add, to);
  add_unbuilt_options(add);
}

void require(bool condition, const char* text) {
  if (!condition) throw UsageError(text);
}

void check(const ImagenetOptions& options) {
  require(!options.data.empty() || !options.file_list.empty(),
          "give --data DIR, --file-list FILE or --config FILE (--help lists all)");
  require(options.generate == 0 || !options.data.empty(), "--generate needs --data DIR, the folder to write to");
  require(!options.peer || !options.data.empty(), "--peer needs --data DIR");
  require(!options.without.own || options.decoder != image::Decoder::own,
          "--without own leaves out what --decoder own asks for");
  require(options.step_cpu == 0 || options.step_time.count() > 0, "--step-cpu needs --step-time");
}

// A flag without effect would pass for one that was measured.
void check_straightforward(const CLI::App& app, const ImagenetOptions& options) {
  const std::set<std::string> heeded{"straightforward", "data", "annotations", "workload",  "dtype", "layout", "batch",
                                     "epochs",          "seed", "reps",        "with-unit", "json",  "quiet"};
  for (const CLI::Option* option : app.get_options())
    if (const std::string& name = option->get_single_name(); option->count() > 0 && !heeded.contains(name))
      throw UsageError("--" + name + " has no effect with --straightforward; leave it out");
  const image::Layout layout = options.workload == Workload::boxes ? image::Layout::nhwc : image::Layout::nchw;
  require(options.dtype == DType::f32, "--straightforward makes f32 only; leave --dtype out");
  require(options.layout.value_or(layout) == layout,
          "--straightforward makes nhwc for boxes, nchw for train and eval; leave --layout out");
}

// Reads the line a second time, so that it overrides the file that it names.
ImagenetOptions read_line(int count, const char* const* arguments, const std::string& config) {
  ImagenetOptions options;
  ConfigFile files;
  if (!config.empty()) files = apply_config_file(config, options);
  Given given;
  CLI::App app;
  describe(app, options, given);
  app.parse(count, arguments);
  if (options.data.empty() && options.file_list.empty()) options.file_list = files.train_filelist;
  if (options.stats_file.empty() && !given.logdir.empty()) options.stats_file = given.logdir + "/stats.json";
  check(options);
  if (options.straightforward) check_straightforward(app, options);
  return options;
}

int say_wrong_usage(const ProgramText& program, const char* text) {
  std::fprintf(stderr, "%s: %s\n", program.name, text);
  return 2;
}

}  // namespace

ParsedOptions parse_options(int count, const char* const* arguments, const ProgramText& program) {
  ImagenetOptions unused;
  Given given;
  CLI::App app(program.summary, program.name);
  app.set_version_flag(
      "--version", [&] { return version_text(program.name); }, "Print versions");
  try {
    describe(app, unused, given);
    app.parse(count, arguments);
    return {.options = read_line(count, arguments, given.config), .exit_code = std::nullopt};
  } catch (const CLI::Success& message) {  // --help, --version
    return {.options = {}, .exit_code = app.exit(message)};
  } catch (const CLI::ParseError& error) {
    return {.options = {}, .exit_code = say_wrong_usage(program, error.what())};
  } catch (const UsageError& error) {
    return {.options = {}, .exit_code = say_wrong_usage(program, error.what())};
  }
}

}  // namespace penstock::bench
