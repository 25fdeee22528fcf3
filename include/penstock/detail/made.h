// How an object is made that is known by its interface from then on. Nothing here is meant to be called by users.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)

namespace penstock::detail {

// Each function that a user gives is a type, and so are the objects around it. Of a pointer to one of them, and of
// std::make_shared, a compiler makes dozens of classes and functions; with these two map() and filter() compile in half
// the time.
template <class Interface, class Made, class... Arguments> std::unique_ptr<Interface> made(Arguments&&... arguments) {
  static_assert(std::has_virtual_destructor_v<Interface>);
  return std::unique_ptr<Interface>(new Made(std::forward<Arguments>(arguments)...));
}
template <class Interface, class Made, class... Arguments>
std::shared_ptr<const Interface> made_shared(Arguments&&... arguments) {
  return made<Interface, Made>(std::forward<Arguments>(arguments)...);
}

}  // namespace penstock::detail

#pragma GCC visibility pop
