// The name of a C++ type as people write it, for error texts.
//
//   type_name(typeid(std::vector<std::string>))  ->  "std::vector<std::string>"
#pragma once

#include <string>
#include <typeinfo>

#pragma GCC visibility push(default)

namespace penstock {

std::string type_name(const std::type_info& type);

}  // namespace penstock

#pragma GCC visibility pop
