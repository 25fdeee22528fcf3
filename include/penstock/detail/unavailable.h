// A function that takes what would be a mistake, so that the compiler can say what to write: at the line of the call,
// whatever headers lie between. Nothing here is meant to be called by users.
#pragma once

#define PENSTOCK_UNAVAILABLE(text) __attribute__((unavailable(text)))  // clang 14 does not know [[gnu::unavailable]]
