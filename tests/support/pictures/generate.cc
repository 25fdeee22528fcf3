#include "tests/support/pictures/generate.h"

#include <penstock/error.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <span>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "tests/support/pictures/encode_jpeg.h"
#include "tests/support/pictures/sample_picture.h"

namespace penstock::pictures {
namespace {

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file)
    throw Error(ErrorCode::unavailable, "cannot write '" + path + "': " + std::generic_category().message(errno));
}

std::string class_name(std::int64_t number) { return std::string("n") + std::to_string(10'000'000 + 37 * number); }

std::string tag(const char* name, const std::string& text) {
  return std::string("<") + name + ">" + text + "</" + name + ">";
}

std::string object_xml(const SampleBox& box, const std::string& name) {
  const std::string corners = tag("xmin", std::to_string(box.xmin)) + tag("ymin", std::to_string(box.ymin)) +
                              tag("xmax", std::to_string(box.xmax)) + tag("ymax", std::to_string(box.ymax));
  return std::string("\t") +
         tag("object", tag("name", name) + tag("pose", "Unspecified") + tag("truncated", "0") + tag("difficult", "0") +
                           tag("bndbox", corners)) +
         "\n";
}

std::string annotation_xml(const PictureSpec& spec, const std::string& name, const std::string& stem) {
  const char* depth = spec.encoding.colour == JpegColour::grey ? "1" : "3";
  std::string xml = "<annotation>\n\t" + tag("folder", name) + "\n\t" + tag("filename", stem) + "\n\t" +
                    tag("source", tag("database", "penstock sample")) + "\n\t" +
                    tag("size", tag("width", std::to_string(spec.width)) + tag("height", std::to_string(spec.height)) +
                                    tag("depth", depth)) +
                    "\n\t" + tag("segmented", "0") + "\n";
  for (const SampleBox& box : spec.boxes) xml += object_xml(box, name);
  return xml + "</annotation>\n";
}

class Generator {
 public:
  explicit Generator(const GenerateOptions& options)
      : options_(options),
        classes_(std::clamp<std::int64_t>(options.classes, 1, std::max<std::int64_t>(options.images, 1))) {
    for (std::int64_t i = 0; i < classes_; ++i)
      for (const char* kind : {"Data", "Annotations"}) std::filesystem::create_directories(folder(kind, class_name(i)));
  }

  GenerateReport run() {
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < std::max(options_.threads, 1); ++i) threads.emplace_back([this] { work(); });
    }
    if (failure_) std::rethrow_exception(failure_);
    return {options_.images, pixels_, bytes_};
  }

 private:
  std::string folder(const char* kind, const std::string& name) const {
    return options_.folder + "/" + kind + "/CLS-LOC/train/" + name;
  }

  void work() {
    try {
      while (true) {
        const std::int64_t number = next_++;
        if (number >= options_.images) return;
        make(number);
      }
    } catch (...) {
      next_ = options_.images;
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }

  void make(std::int64_t number) {
    Random random(options_.seed * 0x2545f4914f6cdd1d + static_cast<std::uint64_t>(number));
    const PictureSpec spec = draw_picture(random);
    const std::vector<std::byte> jpeg =
        encode_jpeg(paint(spec, grains_.grain_for(spec)), spec.height, spec.width, spec.encoding);
    const std::string name = class_name(number % classes_);
    const std::string stem = name + "_" + std::to_string(number / classes_ + 1);
    const std::string xml = annotation_xml(spec, name, stem);
    write_file(folder("Data", name) + "/" + stem + ".JPEG", jpeg);
    write_file(folder("Annotations", name) + "/" + stem + ".xml", std::as_bytes(std::span(xml)));
    pixels_ += spec.height * spec.width;
    bytes_ += static_cast<std::int64_t>(jpeg.size());
  }

  const GenerateOptions& options_;
  const std::int64_t classes_;
  const GrainTable grains_;
  std::atomic<std::int64_t> next_ = 0, pixels_ = 0, bytes_ = 0;
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace

GenerateReport generate_imagenet(const GenerateOptions& options) {
  try {
    return Generator(options).run();
  } catch (const std::filesystem::filesystem_error& error) {
    throw Error(ErrorCode::unavailable, std::string("cannot make sample data: ") + error.what());
  }
}

}  // namespace penstock::pictures
