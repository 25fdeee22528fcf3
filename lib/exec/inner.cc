#include "lib/exec/inner.h"

#include "lib/exec/inner_dataset.h"

namespace penstock::exec {

Inner::Inner(const Stamp& element) : stamp(element) {}
Inner::~Inner() = default;

}  // namespace penstock::exec
