// Pictures and annotations with one thing wrong each, as bytes.
#pragma once

#include <cstdint>
#include <string>

#include "tests/support/pictures/encode_jpeg.h"

namespace penstock::hostile {

// A good JPEG of soft colours.
std::string jpeg(std::int64_t height, std::int64_t width, const pictures::EncodeOptions& options = {});

// The same file, whose header claims another size or precision.
std::string claiming_size(std::string jpeg, std::uint16_t height, std::uint16_t width);
std::string claiming_precision(std::string jpeg, std::uint8_t bits);

// The same file, with its first table of codes gone.
std::string without_codes(std::string jpeg);

// The same file, with bytes that belong to nothing before its header.
std::string with_surplus_bytes(std::string jpeg);

// A few kilobytes that ask for 600 passes over the picture.
std::string scan_bomb();

// A PNG of one pixel.
std::string png();

// An annotation of a picture of 40 x 30 (width x height) with these objects.
std::string annotation(const std::string& objects,
                       const std::string& size = "<size><width>40</width><height>30</height></size>");
std::string object(const std::string& xmin, const std::string& ymin, const std::string& xmax, const std::string& ymax);

// Nine entities, each ten of the one before: 10^9 letters if anybody expands them.
std::string entity_bomb();

// <a> in <a> in <a> ...
std::string nested(int depth);

}  // namespace penstock::hostile
