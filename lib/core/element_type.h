// Elements of the type that they ought to have: whoever gets one of another type would read memory as what it is not.
#pragma once

#include <penstock/element.h>

#include <typeinfo>

namespace penstock {

// Error(invalid_argument) that names both, and what to write.
void check_type(const Element& element, const std::type_info& wanted);

}  // namespace penstock
