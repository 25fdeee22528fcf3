#include "lib/core/element_type.h"

#include <penstock/error.h>

#include <string>

#include "lib/base/type_name.h"

namespace penstock {

void check_type(const Element& element, const std::type_info& wanted) {
  if (element.holds(wanted)) return;
  const std::string given = element.empty() ? "an empty element" : "an element of type " + type_name(*element.type());
  throw Error(ErrorCode::invalid_argument, "the op gave " + given +
                                               ", but the dataset behind it has elements of type " + type_name(wanted) +
                                               ": write the type that the op gives, as in then<Type>(op)");
}

}  // namespace penstock
