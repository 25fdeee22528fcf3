// The computing half of the ImageNet pipelines, as far as load_crops, load_train and load_eval share it.
#pragma once

#include <penstock/image/output.h>
#include <penstock/imagenet.h>
#include <penstock/io.h>
#include <penstock/op.h>

#include <memory>
#include <string_view>
#include <vector>

#include "ops/imagenet/fast_path.h"
#include "ops/imagenet/file_op.h"
#include "ops/imagenet/read_op.h"

namespace penstock::imagenet {

class DecodeOp : public FileOp<LoadedFile> {
 public:
  DecodeOp(std::shared_ptr<const Config> config, FastPath fast);

  // All of the Config that decides the elements: a checkpoint goes on only where these are equal.
  std::string parameters() const override;
  Tunable parallelism() const override { return config_->decode_parallelism; }

 protected:
  // The pixels of the picture that are chosen, in memory of this thread that the next call of decode() reuses.
  image::ImagePart decode(const LoadedFile& file, const image::ChooseWindow& choose_window) const;

  // What decode() takes at most: the bytes of the whole picture, by the file's header, and our own decoder's copy of
  // the file.
  std::size_t decoded_bytes(const LoadedFile& file) const;

  // Bytes of one example's image.
  std::size_t example_bytes() const;

  // Where the values of example i go: into their place in the next batch, if that is wanted and known.
  Tensor row(Context& context, std::size_t i) const;

  // What is to be written there.
  image::Output output_to(Tensor& row) const;

  void count_examples(std::size_t count) const;

  // By Config::label_of, else by the path and, where that tells none, the name of the annotation's first object.
  std::int32_t label_of(const LoadedFile& file, std::string_view first_object) const;

  const Config& config() const noexcept { return *config_; }

 private:
  void count(const image::DecodeReport& report) const;
  void count_refusal(const image::DecodeReport& report) const;

  std::shared_ptr<const Config> config_;
  FastPath fast_;
  Shape shape_;
};

// LoadedFile -> std::vector<Example>, one for each box.
OpRef crop_op(std::shared_ptr<const Config> config, FastPath fast = {});

// LoadedFile -> Example.
OpRef train_op(std::shared_ptr<const Config> config, FastPath fast = {});
OpRef eval_op(std::shared_ptr<const Config> config, FastPath fast = {});

// LoadedFile -> ObjectExample.
OpRef objects_op(std::shared_ptr<const Config> config);

}  // namespace penstock::imagenet
