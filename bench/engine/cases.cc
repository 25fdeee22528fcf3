#include "bench/engine/cases.h"

namespace penstock::bench {
namespace {

constexpr Case kCases[] = {
    {"slope", "ns per element and stage: slope over chains of 0 to 6 trivial maps", run_slope},
    {"whole", "short whole pipelines: ns per element over all stages", run_whole},
    {"fused", "maps and a filter that share calls, beside the same as stages of their own", run_fused},
    {"merges", "zip, concatenate, sample_from: ns per element beyond one input alone", run_merges},
    {"cached", "cache: what later epochs cost, from memory and from a file", run_cached},
    {"nests", "interleave: opening datasets, taking turns, and datasets that wait", run_nests},
    {"collecting", "batch, window, rebatch, padded_batch: ns per element", run_collecting},
    {"text", "100,000 texts of log-normal length: how much of the batches is padding, with buckets and without",
     run_text},
    {"lines", "the lines of 2 GiB of text from the page cache, beside plain loops", run_lines},
    {"resume", "save points: what they cost, a resume in the middle of 2 GiB of text, checkpoints", run_resume},
    {"mixed", "pictures mixed 70/30 behind two decoders, beside paths mixed before one: rates", run_mixed},
    {"unequal", "zip of 10 ms reads and 2 ms decoding, beside decoding alone: rates, and who is blamed", run_unequal},
    {"two_maps", "two ordered maps of 1 to 300 us against plain threads", run_two_maps},
    {"sleep64", "64 calls of 10 ms against 64 plain threads, with a hint and without", run_sleep64},
    {"adapt", "how fast AUTOTUNE finds 64 calls, absorbs 8 x the latency, gives calls back", run_adapt},
    {"first", "from building nine stages to the first element", run_first},
    {"abandon", "dropping a run with 64 calls under way, 500 times", run_abandon},
    {"drop_idle", "dropping idle runs", run_drop_idle},
    {"permutation", "1.28 million names: first one of a full shuffle, and memory", run_permutation},
    {"names_shuffle", "the same names as the peers' scripts go through them", run_names},
    {"controller", "what the controller's thread uses: ten stages, 256 calls at once", run_controller},
    {"idle", "a slow consumer: what 2 to 128 threads with little to do cost", run_idle},
    {"pressure", "short memory: what it costs to allow 2 to 128 calls", run_pressure},
    {"latency", "how late a waiting consumer gets what is done, with calls of 1 us to 50 ms", run_latency},
    {"outlier", "the rate after one element of 2, 8 or 80 MiB, beside before it", run_outlier},
    {"instruments", "what statistics and a trace cost, beside none", run_instruments},
    {"chain", "chains of up to 16 maps, as the peers' scripts do", run_chain},
    {"stage", "single stages, as the peers' scripts do", run_stage},
};

}  // namespace

std::span<const Case> all_cases() { return kCases; }

}  // namespace penstock::bench
