#include "ops/file_cache.h"

#include <penstock/error.h>
#include <penstock/ops.h>

#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "lib/base/text.h"
#include "lib/graph/arguments.h"
#include "ops/cache_pass.h"

namespace penstock::ops {
namespace {

constexpr const char* kNoMemory = "there is no memory";

}  // namespace

// Reads the file where there is one. Else each pass runs its input and writes: the first one that comes to its end
// publishes the file.
class FileCacheOp::State final : public MergeState, public graph::AsksForInputs {
 public:
  explicit State(const FileCacheOp& op) : op_(op) {}

  void begin_pass(const Stamp& pass) override {
    pass_ = pass;
    ahead_.reset();
    writer_.reset();
    input_.drop();
    input_.begin_pass();
    wanted_ = Want::nothing();  // if there is an error now
    reader_ = op_.reader();
    decide();
  }
  std::uint32_t runs_of_inputs() const override { return input_.runs(); }
  bool has_missed(bool keeps_numbers) const noexcept override { return input_.has_missed(keeps_numbers); }

  Want want() const override { return wanted_; }
  void give(Emitter& out) override {
    Slot slot = input_.given_in(pass_, *std::exchange(ahead_, std::nullopt));
    decide();
    out.forward(std::move(slot));
  }
  void take(std::size_t, Slot&& slot, Emitter& out) override {
    write(slot);
    // By a file found to be damaged, or before the run was resumed.
    if (!input_.comes_again(slot)) out.forward(input_.given_in(pass_, std::move(slot)));
  }
  void ended(std::size_t, Emitter&) override {
    input_.end();
    guarded([this] {
      writer_->publish();
      op_.is_damaged_ = false;
    });
    writer_.reset();
    decide();
  }
  bool soon(std::size_t) const noexcept override { return input_.brings_more(); }
  std::int64_t held_bytes() const override {
    return (reader_ ? reader_->held_bytes() : 0) + (writer_ ? writer_->held_bytes() : 0);
  }
  bool save(StateWriter& out) const override {
    input_.save(out);
    return input_.is_as_of_a_new_run();
  }
  void restore(StateReader& in) override {
    input_.restore(in);
    if (!reader_) return;
    ahead_.reset();
    if (input_.errors_given() > 0) {  // it was read from the input, and the file has none: others may be at its places
      reader_.reset();
    } else {
      if (next() > reader_->size()) StateReader::refuse();
      reading([this] { reader_->go_to(next()); });
    }
    decide();
  }

 private:
  std::uint64_t next() const noexcept { return static_cast<std::uint64_t>(input_.given()); }
  void decide() {
    if (reader_ && !ahead_) reading([this] { ahead_ = reader_->next(*op_.codec_); });
    if (reader_) {
      wanted_ = ahead_ ? Want::own() : Want::nothing();
      return;
    }
    if (input_.want() && next() == 0) writer_ = op_.writer();
    wanted_ = input_.has_ended() ? Want::nothing() : Want::one(0);
  }

  template <class Call> void reading(Call&& call) {
    try {
      return call();
    } catch (const std::bad_alloc&) {
      op_.warn(kNoMemory);
    } catch (...) {
      op_.is_damaged_ = true;
      op_.warn_of_failure("cannot be read further");
    }
    reader_.reset();
  }

  void write(const Slot& slot) {
    if (slot.is_element()) return guarded([&] { writer_->add(slot, *op_.codec_); });
    if (writer_) op_.warn("it is not written, because an element is an error");
    writer_.reset();
  }
  template <class Call> void guarded(Call&& call) {
    if (!writer_) return;
    try {
      call();
    } catch (...) {
      op_.warn_of_failure("cannot be written");
      writer_.reset();
    }
  }

  const FileCacheOp& op_;
  std::unique_ptr<CacheFileReader> reader_;  // none: the input is read
  std::unique_ptr<CacheFileWriter> writer_;
  std::optional<Slot> ahead_;  // of the file, what is next
  Want wanted_;
  Stamp pass_;
  CacheInput input_;
};

FileCacheOp::FileCacheOp(io::FileSystemRef files, detail::ElementCodecRef codec, std::string path,
                         const CacheOptions& options, const CallSite& site)
    : files_(std::move(files)),
      codec_(std::move(codec)),
      path_(std::move(path)),
      max_bytes_(options.max_bytes),
      site_(site) {
  if (max_bytes_ < 0) graph::reject("max_bytes", "0 (no limit) or more", max_bytes_);
  if (path_.empty() || path_.find('\0') != std::string::npos)
    throw Error(ErrorCode::invalid_argument, "path must be that of a file, but is " + in_quotes(path_));
}

std::string FileCacheOp::parameters() const { return "path=" + in_quotes(path_); }

std::unique_ptr<MergeState> FileCacheOp::open(std::size_t) const { return std::make_unique<State>(*this); }

std::unique_ptr<CacheFileReader> FileCacheOp::reader() const {
  if (is_damaged_) return nullptr;
  try {
    auto file = CacheFile::open(*files_, path_, codec_->type());
    return file ? std::make_unique<CacheFileReader>(std::move(*file)) : nullptr;
  } catch (const std::bad_alloc&) {
    warn(kNoMemory);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::failed_precondition) throw;
    is_damaged_ = error.code() == ErrorCode::data_loss;
    warn_of_failure("cannot be read");
  }
  return nullptr;
}

std::unique_ptr<CacheFileWriter> FileCacheOp::writer() const {
  try {
    return std::make_unique<CacheFileWriter>(*files_, path_, codec_->type(), max_bytes_);
  } catch (...) {
    warn_of_failure("cannot be written");
    return nullptr;
  }
}

void FileCacheOp::warn_of_failure(const char* what) const noexcept {
  try {
    const auto error = std::current_exception();
    const bool is_busy = code_of(error) == ErrorCode::failed_precondition;
    if (is_busy ? has_told_of_others_.exchange(true) : has_warned_.exchange(true)) return;
    print((std::string(what) + ": " + message_of(error)).c_str());
  } catch (const std::bad_alloc&) {
    print(kNoMemory);
  }
}

void FileCacheOp::warn(const char* reason) const noexcept {
  if (!has_warned_.exchange(true)) print(reason);
}

void FileCacheOp::print(const char* reason) const noexcept {
  std::fprintf(stderr,
               "penstock: cache in line %d of %s, file '%s': %s. What is before it runs until a pass of it could be "
               "written\n",
               site_.line, site_.file, path_.c_str(), reason);
}

OpRef cache(detail::ElementCodecRef codec, const std::string& path, const CacheOptions& options, const CallSite& site) {
  return std::make_shared<FileCacheOp>(io::local_file_system(), std::move(codec), path, options, site);
}

}  // namespace penstock::ops
