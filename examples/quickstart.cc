#include <penstock/penstock.h>

#include <iostream>

namespace ps = penstock;

int main() {
  auto train = ps::range(10)                                            // 0 1 2 ... 9
                   .shuffle(10, {.seed = 7})                            // another order each epoch
                   .map([](std::int64_t value) { return 10 * value; })  // on all cores, order kept
                   .batch(4)                                            // four values together
                   .prefetch(ps::AUTOTUNE);                             // made ahead of the loop
  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto&& batch : train) {  // one loop is one epoch
      std::cout << "epoch " << epoch << ':';
      for (std::int64_t value : batch) std::cout << ' ' << value;
      std::cout << '\n';
    }
}
