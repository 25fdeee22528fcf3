// A user's program against an installed penstock: it sees the public headers and the package, nothing else.
#include <penstock/penstock.h>

#include <cstdint>
#include <iostream>

namespace ps = penstock;

int main() {
  for (auto value : ps::range(10).map([](std::int64_t v) { return 2 * v; })) std::cout << value << ' ';
  std::cout << '\n';
}
