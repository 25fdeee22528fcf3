#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/hostile/inputs.h"
#include "tests/hostile/pictures.h"

namespace penstock::hostile {
namespace {

namespace fs = std::filesystem;
using pictures::JpegColour;

constexpr auto invalid = ErrorCode::invalid_argument;

std::function<void(const Place&)> holding(const std::string& bytes) {
  return [bytes](const Place& place) { write(place.picture, bytes); };
}

std::vector<Input> paths() {
  const auto shut = [](const Place& place) {
    write(place.picture, jpeg(30, 40));
    fs::permissions(place.picture, fs::perms::none);
  };
  return {
      {"a file that is not there",
       [](const Place&) {},
       {"eval, from a list", std::nullopt, nullptr},
       refused(ErrorCode::not_found, "No such file")},
      {"a link to nothing", [](const Place& place) { fs::create_symlink("nothing", place.picture); }, eval,
       refused(ErrorCode::not_found, "No such file")},
      {"a link to itself",
       [](const Place& place) { fs::create_symlink(fs::path(place.picture).filename(), place.picture); }, eval,
       refused(invalid, "circle")},
      {"a pipe", [](const Place& place) { ::mkfifo(place.picture.c_str(), 0644); }, eval,
       refused(invalid, "not a regular file")},
      {"a file that may not be read", shut, eval, refused(ErrorCode::permission_denied, "Permission denied"), true},
  };
}

std::vector<Input> contents() {
  const std::string good = jpeg(30, 40);
  std::string twelve = claiming_precision(good, 12), spoilt = without_codes(good);
  return {
      {"an empty file", holding(""), eval, refused(data_loss, "the file is empty")},
      {"a text", holding("no picture"), eval, refused(data_loss, "not a JPEG file")},
      {"a PNG with the name .JPEG", holding(png()), eval, refused(invalid, "PNG")},
      {"a JPEG of 12 bits", holding(twelve), eval, refused(ErrorCode::unimplemented, "12 bits")},
      {"a JPEG with a damaged table", holding(spoilt), eval, refused(data_loss, "damaged")},
      {"a JPEG with bytes between markers", holding(with_surplus_bytes(good)), eval, delivered("damaged 1")},
      {"a JPEG with bytes behind its end", holding(good + std::string(1000, 'x')), eval, delivered()},
      {"a JPEG with 600 scans", holding(scan_bomb()), eval, refused(exhausted, "500 scans")},
      {"a JPEG that claims 65500 x 65500", holding(claiming_size(good, 65500, 65500)), eval,
       refused(exhausted, "65500 x 65500 pixels")},
      {"the same, progressive", holding(claiming_size(jpeg(30, 40, {.progressive = true}), 65500, 65500)), eval,
       refused(exhausted, "65500 x 65500 pixels")},
      {"40 x 30 where 1,199 pixels are the limit",
       holding(good),
       {"eval", std::nullopt, [](auto& config) { config.decode.max_pixels = 1199; }},
       refused(exhausted, "the limit is 1199")},
      {"40 x 30 where 1,200 pixels are the limit",
       holding(good),
       {"eval", std::nullopt, [](auto& config) { config.decode.max_pixels = 1200; }},
       delivered()},
      {"half a JPEG where truncated ones are accepted",
       holding(good.substr(0, good.size() * 9 / 10)),
       {"eval", std::nullopt, [](auto& config) { config.decode.truncated = image::Truncated::accept; }},
       delivered("damaged 1")},
  };
}

std::vector<Input> shapes() {
  std::vector<Input> all{
      {"a CMYK JPEG", holding(jpeg(30, 40, {.colour = JpegColour::cmyk})), eval, delivered()},
      {"a YCCK JPEG", holding(jpeg(30, 40, {.colour = JpegColour::ycck})), eval, delivered()},
      {"a grey JPEG", holding(jpeg(30, 40, {.colour = JpegColour::grey})), eval, delivered()},
      {"an arithmetic JPEG", holding(jpeg(30, 40, {.arithmetic = true})), eval, delivered()},
  };
  for (const Mode& mode : {eval, train, tf}) {
    const std::string whole = mode.boxes ? "missing XML 1" : "";
    all.push_back({"a JPEG of 1 x 1", holding(jpeg(1, 1)), mode, delivered(whole)});
    all.push_back({"a JPEG of 20000 x 1", holding(jpeg(1, 20000)), mode, delivered(whole)});
    all.push_back({"a JPEG of 1 x 20000", holding(jpeg(20000, 1)), mode, delivered(whole)});
  }
  return all;
}

std::vector<Input> cut() {
  const std::string good = jpeg(30, 40);
  std::vector<Input> all;
  for (std::size_t part = 1; part <= 20; ++part)
    all.push_back({"a JPEG cut at " + std::to_string(part) + " of 21", holding(good.substr(0, good.size() * part / 21)),
                   eval, refused(data_loss, "truncated")});
  return all;
}

}  // namespace

void write(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::vector<Input> pictures() {
  std::vector<Input> all = paths();
  for (const auto& more : {contents(), shapes(), cut()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace penstock::hostile
