// --peer: the protocol that lays penstock beside other input pipelines in one run (peers/README.md
// of the shared material).
#pragma once

#include "bench/imagenet/options.h"

namespace penstock::bench {

// Answers on stdout each line that comes on stdin with one repetition, until stdin ends. The exit
// code. Ctrl-C must end the program (end_at_interrupt()): half a repetition is no answer.
int run_peer(const ImagenetOptions& options);

}  // namespace penstock::bench
