// Ctrl-C. The first one asks the program to stop, the second one ends it the hard way.
#pragma once

namespace penstock::bench {

// Once, from main: takes over SIGINT and SIGTERM.
void watch_for_interrupt();

// Whether one has come. Any thread.
bool interrupted() noexcept;

}  // namespace penstock::bench
