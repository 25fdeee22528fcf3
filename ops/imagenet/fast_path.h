// Steps of the ImageNet pipelines that our own programs can leave out, to measure what each brings. Users have them
// all.
#pragma once

#include <penstock/call_site.h>
#include <penstock/imagenet.h>

#include <vector>

namespace penstock::imagenet {

// Examples are the same with and without. Of damaged files: without roi, damage below the pixels that are needed is
// noticed, too.
struct FastPath {
  bool roi = true;   // decode only the pixels that are needed, instead of the whole picture
  bool rows = true;  // write examples into their rows of the next batch, instead of memory of their own
  bool stream =
      true;  // write into those places past the caches where the batch is larger (copies of batch() always do)
};

// The public functions of these names, which take all steps.
Transform<std::vector<Example>> load_crops(Config config, FastPath fast, CallSite site = CallSite::here());
Transform<Example> load_train(Config config, FastPath fast, CallSite site = CallSite::here());
Transform<Example> load_eval(Config config, FastPath fast, CallSite site = CallSite::here());

}  // namespace penstock::imagenet
