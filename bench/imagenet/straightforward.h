// The three workloads as one writes them first: none of penstock's engine, kernels and buffers, one thread, no buffer
// reused but the two batches. `bench/ladder` starts here.
//
// A file is read through ifstream into a new vector; its XML is loaded by tinyxml2; the whole picture is decoded by a
// new decompressor into a new vector; plain loops crop, resize, mirror and normalise into new vectors; the sample is
// copied into the batch. -O2, as everything else. CMYK files cost what they cost, but their samples have false colours.
#pragma once

#include "bench/imagenet/options.h"

namespace penstock::bench {

// One epoch that is not timed, then the repetitions: one JSON line each on stdout, with those fields of
// penstock-imagenet's that have a meaning here. Heeds data, annotations, workload, batch, epochs, seed and repetitions
// of the options. Returns the exit code. Throws where a file cannot be read or decoded.
int run_straightforward(const ImagenetOptions& options);

}  // namespace penstock::bench
