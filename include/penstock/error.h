// Errors of penstock.
//
// Three kinds, by who can act on them:
//  GraphError    the pipeline as written cannot run: thrown while it is built, at the user's own line
//  ElementError  one element failed while the pipeline ran: thrown by the iterator at that element's
//                place in the order, after which iteration can go on with the next element
//  Error         anything else that the library itself reports (a file, a checkpoint, a setting).
// All carry an ErrorCode. All are safe to copy and to throw from any thread.
#pragma once

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace penstock {

// What kind of failure it was, so that a program can decide without reading the text.
enum class ErrorCode : std::uint8_t {
  invalid_argument,     // the caller asked for something that cannot be
  data_loss,            // the bytes are there but damaged or truncated
  not_found,            // a file or key does not exist
  permission_denied,    // it exists, but may not be read
  unavailable,          // may work when tried again (a busy server, EIO)
  resource_exhausted,   // a limit was hit: memory, open files, configured maxima
  deadline,             // took longer than it was allowed to
  cancelled,            // stopped on request
  failed_precondition,  // right call, wrong time
  unimplemented,        // known, but not built
  internal,             // a bug of the library or an unknown exception of a user function
};

// The enumerator's own name, for example "data_loss".
std::string_view to_string(ErrorCode code) noexcept;

// Base of every exception that penstock makes. Where the system refuses memory or a thread while a run is set up,
// std::bad_alloc and std::system_error come as they are.
//
//   if (!std::filesystem::exists(path))
//     throw ps::Error(ps::ErrorCode::not_found, "cannot open '" + path + "': No such file or directory");
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

// A mistake in the pipeline as written; what() names the op, its position and the user's file and line.
class GraphError : public Error {
 public:
  explicit GraphError(const std::string& text) : Error(ErrorCode::invalid_argument, text) {}
};

// The code of any exception: its own for penstock::Error, invalid_argument for std::invalid_argument,
// resource_exhausted for std::bad_alloc, a matching code for std::system_error, internal otherwise.
ErrorCode code_of(const std::exception_ptr& error) noexcept;

// The text of any exception, with those of the exceptions nested in it behind colons; of std::bad_alloc that memory is
// out and what may help. For types that are not a std::exception: "unknown exception of type int: 42", with the value
// of an int, a string or a const char*.
std::string message_of(const std::exception_ptr& error) noexcept;

// Where an element failed. Positions count from 0.
struct ErrorPlace {
  std::string op;     // the op whose function failed, as texts call it: "map", or "map 'decode'" where it has a name
  int position = -1;  // its place in the chain; the source is 0
  std::string call_site;  // "file:line" of the user's call, "" if unknown
  // which of the op's inputs in this epoch, of a source: which element; where a repeat follows the op, in this pass. In
  // the epoch of a resumption: from there on. -1: none, as source_ordinal
  std::int64_t ordinal = -1;
  // which element of the source it came from, of lists put together (merging.h) of all of them. -1: none, as where a
  // pass's beginning or end failed
  std::int64_t source_ordinal = -1;
  int source_position = -1;  // which op that source is, where there are several; -1: one, or none
  std::string origin;        // the source item's name (a file), "" if it has none
  std::uint32_t epoch = 0;   // in which it failed
};

// One element failed. The original exception is kept as cause() and can be rethrown.
//
//   try { for (auto&& batch : train) step(batch); }
//   catch (const ps::ElementError& e) { log(e.place().origin, e.what()); }
class ElementError : public Error {
 public:
  ElementError(ErrorPlace place, std::exception_ptr cause);
  const ErrorPlace& place() const noexcept { return place_; }
  const std::exception_ptr& cause() const noexcept { return cause_; }

 private:
  ErrorPlace place_;
  std::exception_ptr cause_;
};

}  // namespace penstock

#pragma GCC visibility pop
