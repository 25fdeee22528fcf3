#!/usr/bin/env python3
"""Checks who includes whom, and the shape of the tree.

    include_rules.py [ROOT]        prints one line per violation; exit 1 if there is any

The rules are the tables of lib/README.md ("who may include whom"). include_rules_test.py plants a
violation of each rule and proves that it is found.
"""

import pathlib
import re
import sys

# The components that users choose from (.cmake/components.cmake), and which others each may use besides itself. For files of the
# folders, and of the public headers, each belongs to one.
MAY_USE = {
    "base": [],
    "core": ["base"],
    "image": ["base"],
    "imagenet": ["base", "core", "image"],
}
COMPONENT_FOLDERS = {
    "lib/base": "base",
    "ops/io": "base",
    "lib": "core",
    "ops": "core",
    "autotune": "core",
    "ops/image": "image",
    "ops/imagenet": "imagenet",
}
COMPONENT_HEADERS = {
    "penstock": "core",  # all but these
    "penstock/error.h": "base",
    "penstock/io.h": "base",
    "penstock/shape.h": "base",
    "penstock/tensor.h": "base",
    "penstock/detail/pooled.h": "base",
    "penstock/detail/unavailable.h": "base",
    "penstock/image": "image",
    "penstock/image.h": "image",
    "penstock/imagenet.h": "imagenet",
    "penstock/labels.h": "imagenet",
    "penstock/voc.h": "imagenet",
}
# The libraries that one component alone may see.
LIBRARIES = {
    "core": re.compile(r"^(oneapi/)?tbb(/|\.h$)|^zlib\.h$"),
    "image": re.compile(r"^(jpeglib\.h|jerror\.h|turbojpeg\.h|hwy/)"),
    "imagenet": re.compile(r"^tinyxml2\.h$"),
}

# What each folder may include of the project's own files, as prefixes. The longest matching folder
# counts. {own} is the file's own path without extension: map.cc may include map.h.
MAY_INCLUDE = {
    "include": ["penstock/"],
    "lib/base": ["penstock/", "lib/base/"],
    "lib/core": ["penstock/", "lib/base/", "lib/core/"],
    "lib/graph": ["penstock/", "lib/base/", "lib/core/", "lib/graph/"],
    "lib/rewrite": ["penstock/", "lib/base/", "lib/core/", "lib/graph/", "lib/rewrite/"],
    "lib/exec": ["penstock/", "lib/base/", "lib/core/", "lib/graph/", "lib/exec/", "autotune/policy.h"],
    "lib/runtime": ["penstock/", "lib/", "ops/", "autotune/"],
    "lib/tools": ["penstock/", "lib/", "ops/", "autotune/"],
    # collect_op.h, function_op.h, step_op.h and indexed_source.h are base classes, not ops; merging.h, seed.h and shuffle_buffer.h what several share; cache_file.h and cache_pass.h are parts of cache, saved_file.h of load, unpacked_files.h of lines. ops/io is how ops get at files.
    "ops": ["penstock/", "lib/base/", "lib/core/", "lib/graph/", "{own}.h",
            "ops/collect_op.h", "ops/function_op.h", "ops/step_op.h", "ops/indexed_source.h", "ops/merging.h", "ops/seed.h", "ops/shuffle_buffer.h", "ops/cache_file.h", "ops/cache_pass.h", "ops/saved_file.h", "ops/unpacked_files.h", "ops/io/"],
    "ops/image": ["penstock/", "lib/base/", "ops/image/"],
    "ops/imagenet": ["penstock/", "lib/base/", "lib/core/", "lib/graph/", "ops/io/", "ops/imagenet/"],
    "ops/io": ["penstock/", "lib/base/", "ops/io/"],
    "ops/cuda": ["penstock/", "lib/base/", "lib/core/", "lib/graph/", "ops/cuda/"],
    "autotune": ["penstock/decision.h", "penstock/knob.h", "penstock/snapshot.h", "penstock/service_times.h",
                 "penstock/explanation.h", "autotune/"],
    "examples": ["penstock/"],
    # Programs: they look into the library, and nothing of the library looks back.
    "bench": ["penstock/", "lib/", "ops/", "autotune/", "bench/", "tests/support/pictures/"],
    # What tests share: no test, and no program.
    "tests/support": ["penstock/", "lib/", "ops/", "autotune/", "tests/support/"],
    "tests/support/random_graphs": ["penstock/", "lib/", "autotune/", "tests/support/", "tests/model/", "tests/ops/"],
    # Programs write these pictures as well, so they need nothing of a test.
    "tests/support/pictures": ["penstock/", "ops/image/libjpeg.h", "tests/support/pictures/", "tests/support/temporary_folder.h"],
    # penstock-golden builds its cases through the public API alone.
    "tests/golden": ["penstock/", "tests/golden/", "tests/support/", "bench/version.h"],
}
# Tests of other folders may include anything, but of the programs only these.
PROGRAMS_OF_TESTS = {
    "tests/exam": ("bench/meter.h", "bench/version.h"),
    "tests/fuzz": ("bench/imagenet/config_file.h",),
    "tests/golden": ("bench/version.h",),
    "tests/hostile": ("bench/imagenet/",),
    "tests/imagenet": ("bench/imagenet/", "bench/opponent/"),
    "tests/ops/image": ("bench/imagenet/full_decode.h",),
}
# The two layers that must stay usable without anything but the standard library.
STANDARD_ONLY = {"include", "autotune"}
SEES_TBB = {"lib/exec", "lib/runtime", "bench"}
SEES_FLOW_GRAPH = {"lib/exec", "bench"}
SEES_GOOGLETEST = {"tests/support", "tests/support/random_graphs"}  # of the folders above

# The engine reads clocks, and what the system tells of threads, through lib/core/machine.h alone. Its threads in production are the system's own.
OWN_CLOCKS = re.compile(r"\b(now_ns\(\)|thread_cpu_ns\(\)|process_cpu_ns\(\)|clock_gettime\(|thread_sleeps\(|this_thread_number\(\)|(steady|system|high_resolution)_clock::now\(\)|lib/core/(clock|scheduler_file)\.h)")
ON_THE_SYSTEM = ("worker_threads",)

# Files are reached through a FileSystem (ops/io/file_system.h), so that a test can play one that fails. A path is no file: fs::path is free.
OWN_FILES = re.compile(
    r"(<(?:fcntl|dirent|sys/stat)\.h>|<fstream>|\b(?:fs|filesystem)::(?!path\b)\w+|\bFILE\s*\*|\bfopen\(|\b[io]?fstream\b|"
    r"(?<![\w)])::(?:open|openat|stat|lstat|fstat|read|pread|write|rename|unlink|mkstemp|opendir|realpath)\()")
MAY_OPEN_FILES = {
    "ops/io/local_file_system.cc": "the port's own implementation",
    "lib/core/clock.cc": "/proc: what the system tells of this process",
    "lib/core/cpu_budget.cc": "/proc and /sys: its limits",
    "lib/core/scheduler_file.cc": "/proc: how long its threads have waited",
    "lib/runtime/machine_text.cc": "/proc: the machine",
    "lib/runtime/trace_file.cc": "a file that grows while the run goes on",
    "lib/runtime/trace_file.h": "the same",
}

TOP_LEVEL = {
    "CMakeLists.txt", "CMakePresets.json", "README.md", "CHANGELOG.md", "LICENSE",
    "include", "lib", "ops", "autotune", "examples", "tests", "bench",
}
NOT_OURS = {"build", "compile_commands.json"}  # as in .gitignore

EXPORT_BEGIN, EXPORT_END = "#pragma GCC visibility push(default)", "#pragma GCC visibility pop"

# Private headers with functions that other components call.
FOR_OTHER_COMPONENTS = {"lib/base/errno_code.h", "lib/base/text.h", "lib/base/type_name.h", "lib/graph/arguments.h",
                        "ops/io/file_system.h", "ops/io/line_reader.h", "ops/io/list_files.h", "ops/io/open_file.h", "ops/io/read_file.h"}

SHORT = ("include", "lib", "ops", "autotune")
MAX_LINES = 500

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
PROJECT = re.compile(r"^(penstock|include|lib|ops|autotune|examples|tests|bench)/")
STANDARD = re.compile(r"^[a-z_0-9]+$")
TBB = re.compile(r"^(oneapi/)?tbb(/|\.h$)")
GOOGLETEST = re.compile(r"^(gtest|gmock)/")
QUOTED_LIBRARY = re.compile(r"^hwy/")  # Highway's own headers include each other that way


def layer_of(path):
    """The folder of MAY_INCLUDE that a file belongs to, None if its includes are free."""
    fitting = [folder for folder in MAY_INCLUDE if path.startswith(folder + "/")]
    return max(fitting, key=len, default=None)


def check_project_include(path, layer, target):
    own = path.rsplit(".", 1)[0]
    allowed = [prefix.format(own=own) for prefix in MAY_INCLUDE[layer]]
    if not any(target.startswith(prefix) for prefix in allowed):
        return f"{layer} may not include {target} (only {', '.join(allowed)})"
    return None


def check_program_of_test(path, target):
    folders = [folder for folder in PROGRAMS_OF_TESTS if path.startswith(folder + "/")]
    allowed = PROGRAMS_OF_TESTS[max(folders, key=len)] if folders else ()
    if path.startswith("tests/") and target.startswith("bench/") and not target.startswith(allowed):
        return f"{path.rsplit('/', 1)[0]} may not include {target} (of bench only {', '.join(allowed) or 'nothing'})"
    return None


def within(path, folder):
    return path == folder or path.startswith(folder + "/")


def component_of(path):
    """The component that a file belongs to: of the tree, or as <penstock/...> names it. None for programs and tests."""
    header = path.removeprefix("include/")
    table = COMPONENT_HEADERS if header.startswith("penstock/") else COMPONENT_FOLDERS
    fitting = [folder for folder in table if within(header, folder)]
    return table[max(fitting, key=len)] if fitting else None


def check_component(path, target):
    own, used = component_of(path), component_of(target)
    if own and used and used != own and used not in MAY_USE[own]:
        return f"component {own} may not use {used}: {target}"
    for component, library in LIBRARIES.items():
        if own and own != component and library.search(target):
            return f"component {own} may not use {component}'s library: {target}"
    return None


def check_foreign_include(layer, target):
    if layer in STANDARD_ONLY and not STANDARD.match(target):
        return f"{layer} may include standard headers only, not {target}"
    if TBB.match(target) and layer not in SEES_TBB:
        return f"only {' and '.join(sorted(SEES_TBB))} may include oneTBB, not {layer}"
    if GOOGLETEST.match(target) and layer not in SEES_GOOGLETEST:
        return f"only tests may include GoogleTest, not {layer}"
    if target.endswith("/flow_graph.h") and layer not in SEES_FLOW_GRAPH:
        return f"only {' and '.join(sorted(SEES_FLOW_GRAPH))} may include the flow graph, not {layer}"
    return None


def check_include(path, quote, target):
    """What is wrong with one include, None if nothing is."""
    layer = layer_of(path)
    if layer is None:
        return check_program_of_test(path, target)
    if PROJECT.match(target):
        return check_project_include(path, layer, target) or check_component(path, target)
    if quote == '"' and not QUOTED_LIBRARY.match(target):
        return f"write the path from the repository's root, not \"{target}\""
    return check_foreign_include(layer, target) or check_component(path, target)


def check_exported(path, text):
    """Everything is hidden by default, so a public header exports what it declares, behind its includes. A private one does where another
    component needs it."""
    if path.startswith(("lib/", "ops/", "autotune/")) and EXPORT_BEGIN in text and path not in FOR_OTHER_COMPONENTS:
        return f"{path}: exports what it declares, but is not in FOR_OTHER_COMPONENTS"
    if not path.startswith("include/") or "\nnamespace " not in text:
        return None
    push, pop = text.find("\n" + EXPORT_BEGIN + "\n"), text.find("\n" + EXPORT_END + "\n")
    first, last = text.find("\nnamespace "), text.rfind("\n}  // namespace")
    if text.rfind("\n#include") < push < first and last < pop:
        return None
    return f"{path}: put {EXPORT_BEGIN} behind its includes and {EXPORT_END} at its end"


def check_clocks(path, line):
    """What is wrong with one line of the engine, None if nothing is."""
    if not path.startswith("lib/exec/") or pathlib.Path(path).stem in ON_THE_SYSTEM:
        return None
    found = OWN_CLOCKS.search(line.split("//")[0])
    return f"lib/exec asks its Machine, not {found.group(1)}" if found else None


def check_own_files(path, line):
    """What is wrong with one line of the library, None if nothing is."""
    if not path.startswith(("lib/", "ops/", "autotune/")) or path in MAY_OPEN_FILES:
        return None
    found = OWN_FILES.search(line.split("//")[0])
    return f"files are reached through ops/io/file_system.h, not {found.group(1)}" if found else None


def check_ops(path, line):
    """The public header declares every op's maker: no include tells that the engine calls one."""
    below = path.startswith(("lib/core/", "lib/graph/", "lib/exec/"))
    return "only ops and what lies above them may name an op" if below and re.search(r"\bops::", line.split("//")[0]) else None


def check_file(root, file):
    path = file.relative_to(root).as_posix()
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines()
    problem = check_exported(path, text)
    if problem:
        yield problem
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        problem = check_include(path, *match.groups()) if match else None
        problem = problem or check_clocks(path, line) or check_own_files(path, line) or check_ops(path, line)
        if problem:
            yield f"{path}:{number}: {problem}"
    if path.startswith(SHORT) and len(lines) > MAX_LINES:
        yield f"{path}: {len(lines)} lines, more than {MAX_LINES}: split it"


def check_top_level(root):
    for entry in sorted(root.iterdir()):
        name = entry.name
        if not name.startswith(".") and name not in TOP_LEVEL | NOT_OURS:
            yield f"{name}: not one of the top-level names"


def check_tree(root):
    """All violations below root, as text."""
    problems = list(check_top_level(root))
    for folder in ("include", "lib", "ops", "autotune", "examples", "bench", "tests"):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in {".h", ".cc", ".cu", ".inc"}:
                problems.extend(check_file(root, file))
    return problems


def main():
    default = pathlib.Path(__file__).resolve().parents[2]
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    problems = check_tree(root)
    for problem in problems:
        print(problem)
    print(f"{len(problems)} violations of the include rules")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
