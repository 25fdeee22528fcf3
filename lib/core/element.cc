#include <penstock/element.h>
#include <penstock/error.h>

#include <string>
#include <typeinfo>

#include "lib/base/type_name.h"

namespace penstock {

void detail::fail_element_type(const std::type_info* held, const std::type_info& asked) {
  const std::string there = held == nullptr ? "the element is empty" : "the element is of type " + type_name(*held);
  throw Error(ErrorCode::invalid_argument, there + ", but was asked for as " + type_name(asked) +
                                               ": an op must take the type that the dataset before it has, and "
                                               "then<U>() must name the type that its op gives");
}

}  // namespace penstock
