// The library's ops, untyped. Dataset<T> calls these; a user meets them only through it.
//
// Each function checks its arguments and throws Error(invalid_argument) with the argument's name and value; Dataset
// adds op, position, file and line. Each op is documented at its method in dataset.h and written in ops/<name>.{h,cc}.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <penstock/call_site.h>
#include <penstock/codec.h>
#include <penstock/detail/buckets.h>
#include <penstock/detail/copying.h>
#include <penstock/detail/functions.h>
#include <penstock/detail/gather.h>
#include <penstock/detail/rebatch.h>
#include <penstock/detail/steps.h>
#include <penstock/detail/zip.h>
#include <penstock/op.h>
#include <penstock/options.h>
#include <penstock/padded_batch.h>
#include <penstock/world.h>

#pragma GCC visibility push(default)

namespace penstock::detail {
class SavedFile;
using SavedFileRef = std::shared_ptr<const SavedFile>;
}  // namespace penstock::detail

namespace penstock::ops {

OpRef range(std::int64_t start, std::int64_t stop, std::int64_t step);
OpRef counter(std::int64_t start, std::int64_t step);
OpRef random(std::uint64_t seed);
// `digest`: of its elements, which checkpoints compare; "" if it is not known.
OpRef indexed_source(std::string name, std::string parameters, std::shared_ptr<const IndexedSource> source,
                     std::string digest = {});
OpRef file_list(const std::string& path);
OpRef generator(std::shared_ptr<const detail::GeneratorFactory> factory, std::optional<bool> blocks = std::nullopt);

OpRef shard(std::int64_t num_shards, std::int64_t index);
OpRef shard(const World& world);
OpRef shuffle(std::int64_t buffer_size, const ShuffleOptions& options);
OpRef tensorflow_shuffle(std::int64_t buffer_size, const ShuffleOptions& options);
OpRef repeat(std::int64_t count);
OpRef take(std::int64_t count);
OpRef skip(std::int64_t count);
OpRef map(detail::FunctionRef function, const MapOptions& options);
OpRef filter(detail::FunctionRef predicate, const FilterOptions& options, std::string settings = {});
OpRef flat_map(detail::FunctionRef function, const MapOptions& options);
OpRef flat_map_datasets(detail::FunctionRef function, const MapOptions& options);
OpRef interleave(detail::FunctionRef function, const InterleaveOptions& options);
OpRef unbatch(detail::FunctionRef function);
OpRef assert_cardinality(std::int64_t cardinality);
OpRef take_while(detail::StepFactoryRef predicate);
OpRef enumerate(std::int64_t start, detail::StepFactoryRef step);
OpRef scan(detail::StepFactoryRef step, std::string initial = {});
OpRef unique(detail::StepFactoryRef step);
OpRef window(std::int64_t size, detail::GathererFactoryRef factory, const WindowOptions& options);
OpRef group_by_window(std::int64_t size, detail::GroupingFactoryRef factory);
OpRef batch(std::int64_t batch_size, detail::BatchFactoryRef factory, const BatchOptions& options);
OpRef padded_batch(std::int64_t batch_size, detail::BatchFactoryRef factory, const Padding& padding,
                   bool drop_remainder);
OpRef ragged_batch(std::int64_t batch_size, detail::BatchFactoryRef factory, const BatchOptions& options);
// `factories`: one for each bucket.
OpRef bucket_by_sequence_length(detail::ElementLengthFactoryRef length, std::vector<detail::BatchFactoryRef> factories,
                                detail::Buckets buckets, const Padding& padding);
OpRef rebatch(std::vector<std::int64_t> sizes, detail::RowQueueFactoryRef factory, const BatchOptions& options);
OpRef zip(detail::TupleMakerRef maker);
OpRef concatenate();
OpRef sample_from(std::size_t inputs, const SampleOptions& options);
OpRef choose_from(std::size_t datasets, const ChooseOptions& options);
OpRef prefetch(Tunable buffer_size);
OpRef cache(detail::CopierRef copier, const CacheOptions& options, const CallSite& site);
OpRef cache(detail::ElementCodecRef codec, const std::string& path, const CacheOptions& options, const CallSite& site);
OpRef load(detail::SavedFileRef file);
OpRef ignore_errors();

}  // namespace penstock::ops

#pragma GCC visibility pop
