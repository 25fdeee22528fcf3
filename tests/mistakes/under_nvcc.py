#!/usr/bin/env python3
"""Checks that NVIDIA's compiler takes all public headers as C++20, and a pipeline that uses them.

    under_nvcc.py NVCC INCLUDE_DIR      exit 1 if it does not
"""

import pathlib
import subprocess
import sys
import tempfile

PIPELINE = """#include <penstock/imagenet.h>
#include <penstock/io.h>
#include <penstock/penstock.h>
namespace ps = penstock;
struct Example { ps::Tensor image; int label; };
template <> struct ps::Fields<Example> { static constexpr auto value = std::tuple{&Example::image, &Example::label}; };
__global__ void twice(float* values, int count) { if (threadIdx.x < count) values[threadIdx.x] *= 2; }
void train(const ps::Dataset<std::string>& paths) {
  auto data = paths.shuffle(100, {.seed = 7}).map([](const std::string& path) { return Example{ps::read_file(path), 1}; },
                                                  {.parallelism = 8, .blocks = true, .name = "read"})
                  .filter([](const Example& example) { return example.label > 0; })
                  .batch(32, {.drop_remainder = true}).prefetch();
  auto run = data.start({.epochs = 3});
  for (auto&& batch : run.epoch(0)) {
    auto& [images, labels] = batch.columns();
    auto tensor = batch.tensor<&Example::label>();
    twice<<<1, 32>>>(reinterpret_cast<float*>(images.data()), static_cast<int>(labels.size() + tensor.size()));
  }
}
"""


def complaint(nvcc, include_dir, text, folder):
    """What it says; nothing: it takes the text."""
    source = pathlib.Path(folder, "source.cu")
    source.write_text(text, encoding="utf-8")
    command = [nvcc, "-std=c++20", f"-I{include_dir}", "-cuda", str(source), "-o", str(pathlib.Path(folder, "source.ii"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""


def main():
    nvcc, include_dir = sys.argv[1], pathlib.Path(sys.argv[2])
    headers = sorted(header.relative_to(include_dir).as_posix() for header in include_dir.rglob("*.h"))
    all_of_them = "".join(f"#include <{header}>\n" for header in headers) + "int main() {}\n"
    with tempfile.TemporaryDirectory() as folder:
        wrong = [text for text in (complaint(nvcc, include_dir, program, folder) for program in (all_of_them, PIPELINE)) if text]
    print("\n".join(wrong))
    print(f"{len(headers)} headers and a pipeline, {len(wrong)} refused")
    return 1 if wrong or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
