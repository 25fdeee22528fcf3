// Ctrl-C, and SIGTERM alike.
//
// While a program has nothing to save, the first one ends it: whatever it waits for, a disk or
// stdin, need not know. Where there are results to print, the first one asks it to stop and the
// second one ends it.
#pragma once

namespace penstock::bench {

// From here on Ctrl-C ends the program at once, with exit code 130.
void end_at_interrupt();

// From here on the first Ctrl-C is noted for interrupted() only.
void watch_for_interrupt();

// Whether one has been noted. Any thread.
bool interrupted() noexcept;

}  // namespace penstock::bench
