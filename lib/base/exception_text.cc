// The text of whatever a user's function may throw.
#include <cxxabi.h>
#include <penstock/error.h>

#include <new>
#include <string>
#include <typeinfo>

#include "lib/base/type_name.h"

namespace penstock {
namespace {

constexpr const char* no_type = "unknown exception";
constexpr int most_nested = 8;  // texts shown; who nests deeper is caught in a loop

std::string text_of(const std::exception_ptr& error, int depth);

// Inside a catch block.
std::string type_of_current_exception() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (type == nullptr) return no_type;  // thrown by another language
  return std::string(no_type) + " of type " + type_name(*type);
}

std::string what_of(const std::exception& error) {
  const char* const what = error.what();
  return what != nullptr ? what : "exception of type " + type_name(typeid(error)) + " without a text";
}

// What the exception was thrown for, in its turn. rethrow_if_nested() would end the process where there is nothing
// nested.
template <class Exception> std::string with_nested(std::string text, const Exception& error, int depth) {
  const auto* const nested = dynamic_cast<const std::nested_exception*>(&error);
  if (nested == nullptr || nested->nested_ptr() == nullptr) return text;
  return text + ": " + (depth < most_nested ? text_of(nested->nested_ptr(), depth + 1) : "...");
}

std::string text_of(const std::exception_ptr& error, int depth) {
  if (!error) return no_type;
  try {
    std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    return "out of memory (give the run less by RunOptions::memory_bytes, or lower parallelism)";
  } catch (const std::exception& e) {
    return with_nested(what_of(e), e, depth);
  } catch (const std::nested_exception& e) {
    return with_nested(type_of_current_exception(), e, depth);
  } catch (const char* text) {
    return type_of_current_exception() + ": '" + (text != nullptr ? text : "") + "'";
  } catch (const std::string& text) {
    return type_of_current_exception() + ": '" + text + "'";
  } catch (int number) {
    return type_of_current_exception() + ": " + std::to_string(number);
  } catch (...) {
    return type_of_current_exception();
  }
}

}  // namespace

std::string message_of(const std::exception_ptr& error) noexcept {
  try {
    return text_of(error, 1);
  } catch (...) {
    return "out of memory";  // short enough to need none
  }
}

}  // namespace penstock
