#include "lib/base/type_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace penstock {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// The place behind the template argument that begins at `at`.
std::size_t end_of_argument(const std::string& text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '<') ++depth;
    if (text[at] == '>' && depth-- == 0) break;
    if (text[at] == ',' && depth == 0) break;
  }
  return at;
}

// What nobody writes: standard containers' last argument.
void leave_out_allocators(std::string& text) {
  constexpr std::string_view allocator = ", std::allocator<";
  for (std::size_t at = text.find(allocator); at != text.npos; at = text.find(allocator))
    text.erase(at, end_of_argument(text, at + 2) - at);
}

}  // namespace

std::string type_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  std::string name = demangled ? demangled.get() : type.name();
  replace_all(name, "std::__cxx11::", "std::");
  replace_all(name, "std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string");
  leave_out_allocators(name);
  replace_all(name, " >", ">");
  return name;
}

}  // namespace penstock
