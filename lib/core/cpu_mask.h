// On which CPUs threads may run.
#pragma once

namespace penstock {

// CPUs in the affinity mask of the process, which is that of its first thread; `otherwise` where the system does not
// tell.
int cpus_in_mask_of_process(int otherwise) noexcept;

// The calling thread, which has begun with the mask of the thread that made it, may run where the process may. Does
// nothing where it may already: a mask of its own would not grow with the cpuset.
void take_mask_of_process() noexcept;

}  // namespace penstock
