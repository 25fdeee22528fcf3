// A dataset in a file: what was expensive to make is made once, and read by later programs.
//
//   ps::save(ps::range(1000).map([](std::int64_t x) { return x * x; }), "squares.saved");  // an epoch, or nothing
//   auto squares = ps::load<std::int64_t>("squares.saved");                                // the same, in that order
//
//   ps::save(ps::range(1000), "numbers.saved");
//   const ps::Saved<std::int64_t> saved("numbers.saved");  // in another order: that of positions
//   auto train = saved.elements_at(ps::range(saved.size()).shuffle(saved.size(), {.seed = 1}).shard(world)).batch(32);
//
// Elements must have a ps::Codec (codec.h). The file is that of Dataset::cache(path): elements in blocks of 64 KiB, or
// of one element that is larger, each with a checksum; what one has written the other one reads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <penstock/call_site.h>
#include <penstock/codec.h>
#include <penstock/dataset.h>
#include <penstock/error.h>
#include <penstock/graph.h>
#include <penstock/ops.h>
#include <penstock/options.h>
#include <penstock/run.h>
#include <penstock/sources.h>

#pragma GCC visibility push(default)

namespace penstock {

struct SaveReport {
  std::int64_t elements = 0;  // in the file
  std::int64_t bytes = 0;     // of the file
  std::int64_t skipped = 0;   // errors that RunOptions::on_error let pass
};

namespace detail {

class SavedFile {  // ops/saved_file.h
 public:
  virtual ~SavedFile() = default;
  virtual std::int64_t size() const noexcept = 0;  // elements
};
// Error where it cannot be read, or holds elements of another type.
SavedFileRef open_saved_file(const std::string& path, ElementCodecRef codec);

class Saver {
 public:
  Saver(const std::string& path, ElementCodecRef codec);
  ~Saver();
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;
  void add(Element value);
  SaveReport publish();  // the last call

 private:
  struct File;
  std::unique_ptr<File> file_;
};

// "FOLDER/0123456789abcdef.cache", by the ops and their parameters. Makes the folder where it is not there.
std::string path_of_snapshot(const graph::NodeRef& node, const std::string& folder);

}  // namespace detail

// Runs an epoch, the one with the number options.first_epoch, and writes what it gives. The file is at the path when
// all is on the disk; a file that was there before stays until then, and if anything fails. Whole batches of elements
// are held no longer than the run holds them; the calling thread makes their bytes, a gigabyte or two a second.
//
// Throws the Error of the first element that failed, unless options.on_error lets it pass: such an element is not in
// the file. Error for RunOptions::resume_from, where the file cannot be written (no room, no right, no such folder;
// failed_precondition while somebody else is writing it), and what a codec throws. A dataset without an end never
// returns: take() some of it.
template <HasCodec T>
SaveReport save(const Dataset<T>& dataset, const std::string& path, const RunOptions& options = {}) {
  if (options.resume_from)
    throw Error(ErrorCode::invalid_argument, "save() writes all of an epoch: leave RunOptions::resume_from out");
  detail::Saver saver(path, std::make_shared<detail::TypedElementCodec<T>>());
  auto run = dataset.start(options);
  while (auto element = run.next()) saver.add(Element(std::move(*element)));
  SaveReport report = saver.publish();
  report.skipped = run.stats().skipped;
  return report;
}

// The elements of a file that save(), or Dataset::cache(path), has written. A value; copies share the file.
template <HasCodec T> class Saved {
 public:
  // Looks at the file now: what there is, not the elements. GraphError where it cannot be read, is damaged, or holds
  // elements of another type.
  explicit Saved(const std::string& path, CallSite site = CallSite::here()) {
    try {
      file_ = detail::open_saved_file(path, std::make_shared<detail::TypedElementCodec<T>>());
    } catch (const Error& error) {
      graph::fail(graph::NodeRef(), "load", site, error.what());
    }
  }

  std::int64_t size() const noexcept { return file_->size(); }

  // All of them in the order in which they were saved.
  Dataset<T> elements(CallSite site = CallSite::here()) const { return elements_at(range(size(), site), site); }

  // Those with the numbers 0 ... size() - 1 that `positions` gives, in its order. Shuffle, shard and split positions
  // rather than elements: nothing else is read then. The 16 blocks that were read last are kept, where they have
  // several elements; another one costs some 40 us. So where elements are much smaller than 64 KiB, shuffle behind
  // elements() instead.
  //   ps::save(ps::range(10), "numbers.saved");
  //   const ps::Saved<std::int64_t> saved("numbers.saved");
  //   auto last_two = saved.elements_at(ps::range(saved.size() - 2, saved.size()));  // 8 9
  //
  // Whether calls wait for the file, and how many are of use, is found out while the run goes on. A small element costs
  // some 0.1 us, a large one what it takes to copy it twice and to check it. Error elements in their places:
  // a number that is none (invalid_argument), a block that is damaged (data_loss), and what the codec throws. The file
  // stays open: what is put in its place, or removed, does not change what is read.
  Dataset<T> elements_at(const Dataset<std::int64_t>& positions, CallSite site = CallSite::here()) const {
    return Dataset<T>(graph::build(positions.node(), "load", site, [this] { return ops::load(file_); }));
  }

 private:
  detail::SavedFileRef file_;
};

// Saved<T>(path).elements().
template <HasCodec T> Dataset<T> load(const std::string& path, CallSite site = CallSite::here()) {
  return Saved<T>(path, site).elements(site);
}

// Dataset::cache(path) in a file of the folder that is this pipeline's own: ops with other settings, other seeds among
// them, have another file. What is not compared: functions, a state without a ps::Codec that scan() begins with, what a
// source holds, and RunOptions::seed. Give another folder where one of these has changed. For Dataset::apply.
//   auto images = files.map(decode).apply(ps::snapshot("snapshots"));
// Makes the folder when it is called, but none above it; GraphError where that cannot be.
inline auto snapshot(std::string folder, CacheOptions options = {}, CallSite site = CallSite::here()) {
  return [folder = std::move(folder), options, site]<HasCodec T>(const Dataset<T>& dataset) {
    try {
      return dataset.cache(detail::path_of_snapshot(dataset.node(), folder), options, site);
    } catch (const GraphError&) {
      throw;
    } catch (const Error& error) {
      graph::fail(dataset.node(), "snapshot", site, error.what());
    }
  };
}

}  // namespace penstock

#pragma GCC visibility pop
