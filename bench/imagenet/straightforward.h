// The three workloads as one writes them first: none of penstock's engine, kernels and buffers, one thread, no buffer reused. `bench/ladder` starts here.
//
// A file is read through ifstream into a new vector; its XML is loaded by tinyxml2; the whole picture is decoded by a new
// decompressor into a new vector; plain loops crop, resize, mirror and normalise into new vectors; the sample is copied into
// the batch. -O2, as everything else.
#pragma once

#include "bench/imagenet/options.h"

namespace penstock::bench {

// Prints one JSON line a repetition with workload, images, samples, cpu_s, full_decode_images_per_s and full_decode_ratio. Returns the exit
// code. Throws where a file cannot be read or decoded.
int run_straightforward(const ImagenetOptions& options);

}  // namespace penstock::bench
