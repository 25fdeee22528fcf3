// The heap's tops: free memory at the ends of glibc's arenas, which malloc_trim(3) leaves alone in all but the first,
// and free() gives back only beyond a threshold that rises to 64 MiB (mallopt(3), M_TRIM_THRESHOLD). Each arena may
// keep as much, and has threads of its own: so each thread is asked for what its arena has. Nothing is set for the
// process. Elsewhere than on glibc nothing is done.
#pragma once

namespace penstock {

// Any thread.
void ask_for_heap_tops() noexcept;

// Each thread that runs users' functions, now and then: two loads, unless it has been asked; then some 10 us, and what
// the system takes for the pages.
void give_back_heap_top() noexcept;

}  // namespace penstock
