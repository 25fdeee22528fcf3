#include "lib/runtime/trace_file.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <system_error>
#include <unordered_map>
#include <utility>

#include <penstock/error.h>

#include "lib/base/errno_code.h"
#include "lib/base/text.h"
#include "lib/core/json.h"

namespace penstock::runtime {
namespace {

using exec::Trace;
using Span = Trace::Span;

std::string reason(int number) { return std::generic_category().message(number); }

// With a point, whatever the locale. A run's events do not lie before its beginning.
std::string microseconds(std::int64_t ns) {
  const std::string thousandths = std::to_string(1000 + std::max<std::int64_t>(ns, 0) % 1000);
  return std::to_string(std::max<std::int64_t>(ns, 0) / 1000) + "." + thousandths.substr(1);
}

class Writer {
 public:
  Writer(std::FILE* file, const exec::Plan& plan, std::int64_t started_ns)
      : file_(file), plan_(plan), started_ns_(started_ns) {
    std::fputs(
        "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{"
        "\"name\":\"penstock\"}}",
        file_);
  }

  void spans(const Trace& trace) {
    std::map<std::int64_t, const char*> threads;
    for (const Span& each : trace.spans()) {
      if (each.kind != Span::Kind::later_call) threads.emplace(each.thread, name_of_thread(each));
      span(each);
    }
    for (const auto& [thread, name] : threads) {
      event("M", "thread_name", 0);
      std::fprintf(file_, ",\"tid\":%lld,\"args\":{\"name\":\"%s\"}}", static_cast<long long>(thread), name);
    }
  }

  // Each step of the consumer is followed back: all calls that had its element among theirs. One may still go on then,
  // for what is done leaves it.
  void flows(const Trace& trace) {
    const auto step_of = steps_by_key(trace);
    std::map<const Span*, std::vector<const Span*>> calls_of;
    for (const Span& each : trace.spans()) {
      if (each.kind != Span::Kind::call && each.kind != Span::Kind::pool_call) continue;
      for (const Trace::Key key : each.keys) {
        const auto step = step_of.find(key);
        if (step != step_of.end() && each.begin_ns <= step->second->begin_ns) calls_of[step->second].push_back(&each);
      }
    }
    std::size_t number = 0;
    for (auto& [step, calls] : calls_of) flow(++number, *step, calls);
  }

  void looks(const Trace& trace) {
    for (const Trace::Look& look : trace.looks()) {
      for (std::size_t i = 0; i < look.stages.size(); ++i) {
        event("C", "stage " + std::to_string(i) + " " + plan_.stages[i].label.name, look.time_ns);
        std::fprintf(file_, ",\"args\":{\"running\":%lld,\"waiting\":%lld}}",
                     static_cast<long long>(look.stages[i].running), static_cast<long long>(look.stages[i].waiting));
      }
      counter("ready for the consumer", look.time_ns, look.ready);
      counter("memory, bytes", look.time_ns, look.memory);
      counter("CPU slots in use", look.time_ns, look.permits);
    }
  }

  void decisions(const std::vector<Decision>& decisions) {
    for (const Decision& each : decisions) {
      const std::string of =
          each.stage < 0 ? "" : " of stage " + std::to_string(each.stage) + " " + stage_name(each.stage);
      event("i", each.knob + of + ": " + std::to_string(each.from) + " -> " + std::to_string(each.to), each.time_ns);
      std::fprintf(file_, ",\"tid\":0,\"s\":\"p\",\"cat\":\"decision\",\"args\":{\"reason\":\"%s\",\"wanted\":%lld}}",
                   name_of(each.reason), static_cast<long long>(each.wanted));
    }
  }

  // False: not all of it could be written.
  bool end(std::int64_t dropped) {
    std::fprintf(file_, "\n],\n\"otherData\":{\"events_dropped\":\"%lld\"}}\n", static_cast<long long>(dropped));
    return std::fflush(file_) == 0 && std::ferror(file_) == 0;
  }

 private:
  static std::unordered_map<Trace::Key, const Span*> steps_by_key(const Trace& trace) {
    std::unordered_map<Trace::Key, const Span*> steps;
    for (const Span& each : trace.spans()) {
      if (each.kind == Span::Kind::step && !each.keys.empty()) steps.emplace(each.keys.front(), &each);
    }
    return steps;
  }

  static const char* name_of_thread(const Span& span) {
    if (span.stage < 0) return "consumer";
    return span.kind == Span::Kind::pool_call ? "pool thread" : "worker";
  }

  std::string stage_name(int stage) const { return plan_.stages.at(static_cast<std::size_t>(stage)).label.name; }

  // An event without its end: what follows are more members.
  void event(const char* phase, const std::string& name, std::int64_t time_ns) {
    std::fprintf(file_, ",\n{\"ph\":\"%s\",\"name\":%s,\"pid\":1,\"ts\":%s", phase, in_json(name).c_str(),
                 microseconds(time_ns).c_str());
  }

  void counter(const char* name, std::int64_t time_ns, std::int64_t value) {
    event("C", name, time_ns);
    std::fprintf(file_, ",\"args\":{\"\":%lld}}", static_cast<long long>(value));
  }

  void span(const Span& span) {
    const auto begin = span.begin_ns - started_ns_;
    const auto elements = static_cast<long long>(span.elements);
    const std::string name = span.stage >= 0 ? stage_name(span.stage) : span.kind == Span::Kind::wait ? "wait" : "step";
    if (span.kind == Span::Kind::later_call) {
      ++later_;
      event("b", name, begin);
      std::fprintf(file_, ",\"cat\":\"later\",\"id\":%lld,\"args\":{\"stage\":%d}}", later_, span.stage);
      event("e", name, span.end_ns - started_ns_);
      std::fprintf(file_, ",\"cat\":\"later\",\"id\":%lld}", later_);
      return;
    }
    event("X", name, begin);
    std::fprintf(file_, ",\"dur\":%s,\"tid\":%lld,\"cat\":\"%s\",\"args\":{\"stage\":%d,\"elements\":%lld}}",
                 microseconds(span.end_ns - span.begin_ns).c_str(), static_cast<long long>(span.thread),
                 span.stage < 0 ? "consumer" : "call", span.stage, elements);
  }

  void flow(std::size_t number, const Span& step, std::vector<const Span*>& calls) {
    std::sort(calls.begin(), calls.end(), [](const Span* a, const Span* b) { return a->begin_ns < b->begin_ns; });
    for (const Span* call : calls) flow_end(call == calls.front() ? "s" : "t", number, *call);
    flow_end("f", number, step);
  }

  void flow_end(const char* phase, std::size_t number, const Span& at) {
    event(phase, "element", at.begin_ns - started_ns_);
    std::fprintf(file_, ",\"tid\":%lld,\"cat\":\"element\",\"id\":%zu,\"bp\":\"e\"}", static_cast<long long>(at.thread),
                 number);
  }

  std::FILE* const file_;
  const exec::Plan& plan_;
  const std::int64_t started_ns_;
  long long later_ = 0;
};

}  // namespace

TraceFile::TraceFile(std::string path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "we")) {
  if (file_) return;
  const int number = errno;
  throw Error(code_of_errno(number, ErrorCode::unavailable),
              "RunOptions::trace: cannot write " + in_quotes(path_) + ": " + reason(number));
}

void TraceFile::write(Trace& trace, const exec::Plan& plan, std::int64_t started_ns,
                      const std::vector<Decision>& decisions) {
  trace.close();
  Writer writer(file_.get(), plan, started_ns);
  writer.spans(trace);
  writer.flows(trace);
  writer.looks(trace);
  writer.decisions(decisions);
  if (writer.end(trace.dropped())) return;
  std::fprintf(stderr, "penstock: the trace of a run could not be written whole to %s: %s\n", in_quotes(path_).c_str(),
               reason(errno).c_str());
}

}  // namespace penstock::runtime
