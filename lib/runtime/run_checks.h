// What a run refuses before it begins.
#pragma once

#include <penstock/options.h>

namespace penstock::runtime {

// Throws Error(invalid_argument) for a number that is out of its range.
void check_options(const RunOptions& options);

// Throws Error(failed_precondition) on a thread that is inside so many functions of runs, one inside the other, that
// the next run could overflow its stack: a function that iterates the dataset it belongs to.
void check_nesting();

}  // namespace penstock::runtime
