#!/usr/bin/env python3
"""Checks that clang misses each lock that is taken out of lib.

    locks.py CLANG ROOT GENERATED_DIR FLAG...

Each source that locks something must compile as it stands. A copy of it without its locks must not: clang has to complain inside the scope of each
of them. The same for what lets go of a stage's lock for a while, where the stage calls out. FLAGs are those that the library is compiled with.
Exit 77, for ctest: there is no clang.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LOCK = re.compile(r"^( *)(?:const )?MutexLock \w+\([^;]*\);")
UNLOCK = re.compile(r"^( *)(?:const )?MutexUnlock \w+\([^;]*\);")
ERROR = re.compile(r"^([^\n:]+):(\d+):\d+: (?:fatal )?error: ([^\n]*)", re.MULTILINE)

# Nobody can miss these, by the line that follows: what they keep is an atomic that others read without the lock, or lies where no name of the mutex
# reaches (a group, its list of results); or what is called takes no lock of ours.
UNSEEN = {
    "permits_ = std::max<std::int64_t>(permits, 1);",
    "run->most_ = std::max<std::int64_t>(most, 1);",
    "if (out_.fetch_sub(1, std::memory_order_acq_rel) == 1) none_.notify_all();",
    "out_->reserve(slots);",
    "group.memory.reserved += bytes;",
    "return core_.traits.machine.sleeps(thread);",
    "if (call_.load(std::memory_order_relaxed) != nullptr) call_.store(&call, std::memory_order_relaxed);",
}


def without(pattern, lines):
    """The lines with each match left out, and where those were."""
    places = [number for number, line in enumerate(lines) if pattern.match(line) and lines[number + 1].strip() not in UNSEEN]
    kept = list(lines)
    for number in places:
        kept[number] = ""
    return kept, places


def end_of_scope(lines, place):
    """The line that closes the block around that one."""
    indentation = len(lines[place]) - len(lines[place].lstrip())
    for number in range(place + 1, len(lines)):
        text = lines[number].lstrip()
        if text.startswith("}") and len(lines[number]) - len(text) < indentation:
            return number
    return len(lines)


def complaints(command, root, path, text):
    """Lines of the file that clang refuses for a lock, and what else it says, with `text` in the file's place."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, path)
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
        source = file
        if path.endswith(".h"):
            source = pathlib.Path(folder, "includes.cc")
            source.write_text(f'#include "{path}"\n', encoding="utf-8")
        answer = subprocess.run([*command, "-I", folder, "-I", str(root), str(source)], capture_output=True, text=True, check=False)
    found = ERROR.findall(answer.stderr)
    others = [message for _, _, message in found if "thread-safety" not in message]
    lines = {int(number) - 1 for name, number, message in found if name == str(file) and "thread-safety" in message}
    return lines, others


def check_file(command, root, path, patterns):
    """Failures, and how many locks have been taken out."""
    lines = (root / path).read_text(encoding="utf-8").splitlines()
    refused, others = complaints(command, root, path, "\n".join(lines))
    failures = [f"{path}:{number + 1}: does not compile as it stands" for number in sorted(refused)] + [f"{path}: {text}" for text in others]
    count = 0
    for pattern in patterns:
        kept, places = without(pattern, lines)
        refused, others = complaints(command, root, path, "\n".join(kept)) if places else (set(), [])
        failures += [f"{path}: {text}" for text in others]
        failures += [f"{path}:{place + 1}: nobody misses {lines[place].strip()}" for place in places
                     if not refused & set(range(place, end_of_scope(lines, place)))]
        count += len(places)
    return failures, count


def patterns_of(path):
    return [LOCK, UNLOCK] if path.startswith(("lib/exec/stage", "lib/exec/runner", "lib/exec/call_watch")) else [LOCK]


def check_tree(command, root):
    files = [file.relative_to(root).as_posix() for file in sorted((root / "lib").rglob("*")) if file.suffix in (".h", ".cc")]
    files = [path for path in files if path != "lib/base/mutex.h"
             and any(LOCK.match(line) for line in (root / path).read_text(encoding="utf-8").splitlines())]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(lambda path: check_file(command, root, path, patterns_of(path)), files))
    return sum((failures for failures, _ in answers), []), sum(count for _, count in answers), len(files)


def with_precompiled(command, root, folder):
    """The command, and the library's public headers precompiled: most of what a file takes clang is those, and no lock of ours lies in one."""
    headers = pathlib.Path(folder, "headers.pch")
    subprocess.run([*command, "-x", "c++-header", str(root / "include/penstock/graph.h"), "-o", str(headers)], check=True)
    return [*command, "-include-pch", str(headers), "-fsyntax-only"]


def main():
    clang, root, generated, *flags = sys.argv[1:]
    if shutil.which(clang) is None:
        print("skipped: there is no clang++ here, which alone can tell")
        return 77
    root = pathlib.Path(root)
    command = [clang, "-std=c++20", "-ferror-limit=0", "-I", str(root / "include"), "-I", generated, *flags]
    with tempfile.TemporaryDirectory() as folder:
        failures, count, files = check_tree(with_precompiled(command, root, folder), root)
    print("\n".join(failures))
    print(f"{count} locks taken out of {files} files, {len(failures)} failures")
    return 1 if failures or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
