#!/usr/bin/env python3
"""Plants a violation of each rule of include_rules.py and expects it to be found."""

import pathlib
import tempfile
import unittest

import include_rules


def violations(files):
    """The violations in a tree of {path: text}."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        return include_rules.check_tree(root)


# (file, include, words of the message)
FORBIDDEN = [
    ("include/penstock/a.h", '"lib/core/bytes.h"', "include may not include lib/core/bytes.h"),
    ("include/penstock/a.h", "<oneapi/tbb/task.h>", "standard headers only"),
    ("include/penstock/a.h", "<tbb/task.h>", "standard headers only"),
    ("include/penstock/a.h", "<unistd.h>", "standard headers only"),
    ("include/penstock/tensor.h", "<penstock/element.h>", "component base may not use core"),
    ("include/penstock/dataset.h", "<penstock/image.h>", "component core may not use image"),
    ("include/penstock/run.h", "<penstock/labels.h>", "component core may not use imagenet"),
    ("include/penstock/image.h", "<penstock/options.h>", "component image may not use core"),
    ("include/penstock/image/jpeg.h", "<penstock/voc.h>", "component image may not use imagenet"),
    ("lib/base/a.cc", '"lib/core/bytes.h"', "lib/base may not include"),
    ("lib/base/a.cc", "<penstock/element.h>", "component base may not use core"),
    ("lib/base/a.cc", "<jpeglib.h>", "component base may not use image's library"),
    ("lib/runtime/a.cc", '"ops/image/crop.h"', "component core may not use image"),
    ("lib/runtime/a.cc", '"ops/imagenet/load.h"', "component core may not use imagenet"),
    ("lib/runtime/a.cc", "<penstock/imagenet.h>", "component core may not use imagenet"),
    ("lib/core/a.cc", "<tinyxml2.h>", "component core may not use imagenet's library"),
    ("lib/core/a.cc", '"lib/graph/node.h"', "lib/core may not include"),
    ("lib/core/a.cc", "<oneapi/tbb/task_arena.h>", "may include oneTBB, not lib/core"),
    ("lib/graph/a.cc", '"lib/exec/stage.h"', "lib/graph may not include"),
    ("lib/graph/a.cc", "<tbb/tbb.h>", "may include oneTBB, not lib/graph"),
    ("lib/rewrite/a.cc", '"lib/exec/stage.h"', "lib/rewrite may not include"),
    ("lib/exec/a.cc", '"lib/runtime/run.h"', "lib/exec may not include"),
    ("lib/exec/a.cc", '"ops/map.h"', "lib/exec may not include"),
    ("lib/exec/a.cc", '"autotune/model.h"', "lib/exec may not include"),
    ("lib/runtime/a.cc", "<oneapi/tbb/flow_graph.h>", "may include the flow graph, not lib/runtime"),
    ("lib/runtime/a.cc", '"tests/support/jitter.h"', "lib/runtime may not include"),
    ("ops/map.cc", '"ops/filter.h"', "ops may not include ops/filter.h"),
    ("ops/map.cc", '"lib/exec/stage.h"', "ops may not include"),
    ("ops/map.cc", '"lib/runtime/run.h"', "ops may not include"),
    ("ops/map.cc", '"ops/image/crop.h"', "ops may not include"),
    ("ops/map.cc", "<oneapi/tbb/parallel_for.h>", "may include oneTBB, not ops"),
    ("ops/image/crop.cc", '"ops/map.h"', "ops/image may not include"),
    ("ops/image/crop.cc", '"lib/core/batch.h"', "ops/image may not include"),
    ("ops/image/crop.cc", "<penstock/op.h>", "component image may not use core"),
    ("ops/image/crop.cc", "<penstock/labels.h>", "component image may not use imagenet"),
    ("ops/image/crop.cc", "<tinyxml2.h>", "component image may not use imagenet's library"),
    ("ops/imagenet/load.cc", "<jpeglib.h>", "component imagenet may not use image's library"),
    ("ops/imagenet/load.cc", '"ops/image/crop.h"', "ops/imagenet may not include"),
    ("ops/image/crop.cc", '"ops/io/read_file.h"', "ops/image may not include"),
    ("ops/io/file.cc", '"ops/image/crop.h"', "ops/io may not include"),
    ("ops/io/file.cc", "<penstock/dataset.h>", "component base may not use core"),
    ("ops/io/file.cc", "<zlib.h>", "component base may not use core's library"),
    ("autotune/a.cc", "<penstock/dataset.h>", "autotune may not include"),
    ("autotune/a.cc", '"lib/exec/stage.h"', "autotune may not include"),
    ("autotune/a.cc", "<nlohmann/json.hpp>", "standard headers only"),
    ("examples/a.cc", '"lib/core/bytes.h"', "examples may not include"),
    ("bench/a.cc", '"tests/support/jitter.h"', "bench may not include"),
    ("bench/a.cc", "<gtest/gtest.h>", "only tests may include GoogleTest"),
    ("tests/support/a.h", '"tests/engine/support.h"', "tests/support may not include"),
    ("tests/support/a.h", '"bench/meter.h"', "tests/support may not include"),
    ("tests/support/random_graphs/a.h", '"tests/random/series.h"', "tests/support/random_graphs may not include"),
    ("tests/support/pictures/a.h", '"tests/support/expect_error.h"', "tests/support/pictures may not include"),
    ("tests/support/pictures/a.h", "<gtest/gtest.h>", "only tests may include GoogleTest"),
    ("tests/engine/a.cc", '"bench/meter.h"', "tests/engine may not include bench/meter.h (of bench only nothing)"),
    ("tests/ops/a.cc", '"bench/imagenet/full_decode.h"', "tests/ops may not include"),
    ("tests/exam/real/a.h", '"bench/imagenet/digest.h"', "of bench only bench/meter.h, bench/version.h"),
    ("ops/imagenet/load.cc", '"bench/imagenet/digest.h"', "ops/imagenet may not include"),
    ("tests/golden/a.cc", '"ops/image/crop.h"', "tests/golden may not include"),
    ("ops/map.cc", '"map.h"', "from the repository's root"),
]

ALLOWED = [
    ("include/penstock/a.h", "<penstock/detail/b.h>"),
    ("include/penstock/a.h", "<string_view>"),
    ("include/penstock/image/jpeg.h", "<penstock/io.h>"),
    ("include/penstock/imagenet.h", "<penstock/dataset.h>"),
    ("lib/base/a.cc", "<penstock/tensor.h>"),
    ("lib/core/a.cc", '"lib/base/text.h"'),
    ("lib/core/a.cc", '"lib/core/bytes.h"'),
    ("lib/graph/a.cc", '"lib/core/bytes.h"'),
    ("lib/rewrite/a.cc", '"lib/graph/node.h"'),
    ("lib/exec/a.cc", "<oneapi/tbb/flow_graph.h>"),
    ("lib/exec/a.cc", '"autotune/policy.h"'),
    ("lib/runtime/a.cc", '"lib/exec/engine.h"'),
    ("lib/runtime/a.cc", "<oneapi/tbb/global_control.h>"),
    ("ops/map.cc", '"ops/map.h"'),
    ("ops/map.cc", '"lib/graph/node.h"'),
    ("ops/map.cc", '"lib/core/permutation.h"'),
    ("ops/map.h", '"ops/function_op.h"'),
    ("ops/file_list.cc", '"ops/io/read_file.h"'),
    ("ops/imagenet/load.cc", '"ops/io/file_system.h"'),
    ("ops/image/crop.cc", '"ops/image/crop.h"'),
    ("ops/image/crop.cc", '"lib/base/text.h"'),
    ("ops/imagenet/load.cc", "<penstock/image.h>"),
    ("ops/imagenet/load.cc", '"lib/graph/arguments.h"'),
    ("ops/imagenet/load.cc", "<tinyxml2.h>"),
    ("ops/image/crop.cc", '"hwy/highway.h"'),
    ("ops/image/crop.cc", "<jpeglib.h>"),
    ("autotune/a.cc", "<penstock/knob.h>"),
    ("autotune/a.cc", '"autotune/model.h"'),
    ("tests/core/a.cc", '"lib/exec/stage.h"'),
    ("tests/core/a.cc", "<gtest/gtest.h>"),
    ("tests/support/a.h", "<gmock/gmock.h>"),
    ("tests/support/random_graphs/a.h", '"tests/ops/all_cases.h"'),
    ("tests/ops/image/a.cc", '"bench/imagenet/full_decode.h"'),
    ("tests/exam/real/a.h", '"bench/meter.h"'),
    ("bench/a.cc", '"tests/support/pictures/encode_jpeg.h"'),
    ("bench/a.cc", "<oneapi/tbb/flow_graph.h>"),
    ("bench/a.cc", '"ops/image/crop.h"'),
]


class IncludeRules(unittest.TestCase):
    def test_finds_each_forbidden_include(self):
        for path, target, words in FORBIDDEN:
            with self.subTest(path=path, target=target):
                found = violations({path: f"#pragma once\n#include {target}\n"})
                self.assertEqual(len(found), 1, found)
                self.assertIn(f"{path}:2: ", found[0])
                self.assertIn(words, found[0])

    def test_is_silent_about_allowed_includes(self):
        for path, target in ALLOWED:
            with self.subTest(path=path, target=target):
                self.assertEqual(violations({path: f"#include {target}\n"}), [])

    def test_finds_a_public_header_that_exports_nothing(self):
        body = "\nnamespace penstock {\nint f();\n}  // namespace penstock\n"
        push, pop = f"\n{include_rules.EXPORT_BEGIN}\n", f"\n{include_rules.EXPORT_END}\n"
        path = "include/penstock/a.h"
        self.assertEqual(violations({path: "#include <string>\n" + push + body + pop}), [])
        for wrong in (body, push + body, body + push + pop, push + "#include <string>\n" + body + pop, push + pop + body):
            with self.subTest(text=wrong):
                self.assertEqual(len(violations({path: wrong})), 1)

    def test_finds_a_private_header_that_exports(self):
        text = include_rules.EXPORT_BEGIN + "\nint f();\n" + include_rules.EXPORT_END + "\n"
        self.assertEqual(len(violations({"lib/core/a.h": text})), 1)
        self.assertEqual(violations({"lib/base/text.h": text}), [])

    def test_each_component_has_planted_violations(self):
        words = " ".join(message for _, _, message in FORBIDDEN)
        for own, used in (("base", "core"), ("core", "image"), ("core", "imagenet"), ("image", "core"), ("image", "imagenet")):
            self.assertNotIn(used, include_rules.MAY_USE[own])
            self.assertIn(f"component {own} may not use {used}", words)

    def test_finds_spaced_includes(self):
        self.assertEqual(len(violations({"ops/a.cc": '  #  include  "ops/b.h"\n'})), 1)

    def test_each_folder_has_a_planted_violation(self):
        planted = {include_rules.layer_of(path) for path, _, _ in FORBIDDEN}
        free = {"lib/tools", "ops/cuda"}  # the first may see all, the second is as ops/image
        self.assertEqual(planted - {None} | free, set(include_rules.MAY_INCLUDE))

    def test_finds_a_clock_that_is_not_the_machines(self):
        for line in ("x = now_ns();", "x = std::chrono::steady_clock::now();", '#include "lib/core/clock.h"', "machine_.now(); thread_sleeps(1);"):
            with self.subTest(line=line):
                self.assertEqual(len(violations({"lib/exec/a.cc": line + "\n"})), 1)
                self.assertEqual(violations({"lib/exec/worker_threads.cc": line + "\n"}), [])
                self.assertEqual(violations({"lib/runtime/a.cc": line + "\n"}), [])
        self.assertEqual(violations({"lib/exec/a.cc": "x = machine_.now();  // not now_ns()\n"}), [])

    def test_finds_a_file_that_is_opened_beside_the_port(self):
        for line in ("#include <fcntl.h>", "#include <dirent.h>", "#include <sys/stat.h>", "#include <fstream>", "std::ifstream file(path);",
                     "if (::stat(path.c_str(), &status) != 0)", "x = ::open(path, 0);", 'FILE* file = std::fopen("a", "r");',
                     "for (auto& each : fs::directory_iterator(root))", "std::filesystem::exists(path);"):
            for path in ("ops/a.cc", "ops/imagenet/a.cc", "ops/io/a.cc", "lib/runtime/a.cc"):
                with self.subTest(path=path, line=line):
                    found = violations({path: line + "\n"})
                    self.assertEqual(len(found), 1, found)
                    self.assertIn("ops/io/file_system.h", found[0])
            self.assertEqual(violations({"ops/io/local_file_system.cc": line + "\n", "tests/ops/a.cc": line + "\n"}), [])
        for line in ("const std::filesystem::path folder(list);", "files.open(path);", "int File::read()", "x = stat;  // ::stat(path)"):
            self.assertEqual(violations({"ops/a.cc": line + "\n"}), [], line)

    def test_names_no_exception_that_is_not_needed(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        for path in include_rules.MAY_OPEN_FILES:
            with self.subTest(path=path):
                code = [line.split("//")[0] for line in (root / path).read_text(encoding="utf-8").splitlines()]
                self.assertTrue(any(include_rules.OWN_FILES.search(line) for line in code))

    def test_finds_an_op_that_is_named_below_the_ops(self):
        line = "add(ops::take(0));\n"
        self.assertEqual(len(violations({"lib/exec/a.cc": line})), 1)
        self.assertEqual(len(violations({"lib/graph/a.cc": line})), 1)
        self.assertEqual(violations({"lib/runtime/a.cc": line, "lib/exec/b.cc": "// as ops::take(0)\n"}), [])

    def test_finds_a_long_file(self):
        limit = include_rules.MAX_LINES
        self.assertEqual(violations({"ops/a.cc": "\n" * limit}), [])
        self.assertEqual(len(violations({"ops/a.cc": "\n" * (limit + 1)})), 1)

    def test_finds_a_new_top_level_name(self):
        self.assertEqual(len(violations({"src/a.cc": ""})), 1)
        self.assertEqual(violations({".ci/run": "", "build/a": "", "README.md": ""}), [])


if __name__ == "__main__":
    unittest.main()
