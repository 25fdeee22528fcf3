// What is fuzzed: each target takes any bytes and ends the process where the library breaks a promise. Crashes, leaks
// and undefined behaviour are the sanitizers' matter.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace penstock::fuzz {

// JPEG and annotation through the functions of image.h and voc.h and through the three ImageNet ops.
// Bytes: options, length of the XML, XML, JPEG; case_of() in loader.cc reads them.
void loader(std::string_view bytes);

// A JPEG by both decoders, whole or a window of it: what a caller sees must be the same.
// Bytes: options, four for the window, JPEG; case_of() in jpeg.cc reads them.
void jpeg(std::string_view bytes);

// ilsvrc.json, file lists, label lists and the paths in them. Bytes: config, a NUL, list.
void config(std::string_view bytes);

// A text by io::LineReader, beside its lines letter by letter; and what it unpacks to, where it begins as gzip does.
// Bytes: most that a line may have, how much a read gives, text; case_of() in lines.cc reads them.
void lines(std::string_view bytes);

// Checkpoint::from_bytes(), and resuming a small pipeline by what it gave.
// Bytes: pipeline, whether header and checksum are made good, checkpoint.
void checkpoint(std::string_view bytes);

// Resuming a small pipeline at a save point that says anything.
// Bytes: pipeline, how many elements lie behind it, the save point but for the pipeline's digest.
void save_point(std::string_view bytes);

// A promise: says which one is broken, and where, and ends the process.
void require(bool holds, const char* promise, const char* file = __builtin_FILE(), int line = __builtin_LINE());

// Runs call(). False: it threw a penstock::Error, which must have a text and a code other than internal. Any other
// exception ends the process.
bool succeeds(const std::function<void()>& call);

}  // namespace penstock::fuzz
