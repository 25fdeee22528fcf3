#!/usr/bin/env python3
"""What penstock-imagenet makes of disks and memory that fail: each fault by itself, the program as it is.

    fault_matrix.py PROGRAM SHIM MATRIX.md             compares the table of outcomes with MATRIX.md
    fault_matrix.py PROGRAM SHIM MATRIX.md --update    writes it

Here stands what needs the system itself: that its errors reach the user, what it tells of a file that changes, and memory. All else of files is
played in memory (tests/ops/io/file_faults_test.cc, tests/imagenet/file_faults_test.cc).

SHIM is the library that shim.cc makes; what it can play stands there. Each outcome is judged by a run without faults: over the
same files, or over files that are what the faults made of them. Nothing may hang, crash, or deliver a wrong sample.
"""

import dataclasses
import difflib
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PICTURES = 40
PATIENCE_S = 120  # nothing takes that long unless it hangs
MODES = {"engine": [], "serial": ["--serial"]}

# Files are made as long as this, so that faults of memory can be aimed at them: behind a JPEG's end come bytes that mean nothing.
SMALL, LARGE = 240_000, 3_000_000


class Failure(Exception):
    """A program did what it must not do."""


@dataclasses.dataclass(frozen=True)
class Fault:
    """what: for people. spec: PENSTOCK_FAULTS. outcome: a method of Judge. words: in the text that stops a run."""
    what: str
    spec: str
    outcome: str
    words: str = ""
    aimed_at: str = "paths"  # whether hits are logged by path, or which files they are aimed at


FAULTS = [
    Fault("open is interrupted, 3 times", "open:EINTR:times=3", "went_on"),
    Fault("read is interrupted, 3 times", "read:EINTR:times=3:after=1000", "went_on"),
    Fault("too many open files, for good", "open:EMFILE:every=5", "error", "ulimit -n"),
    Fault("I/O error, fstat", "fstat:EIO:every=5", "error", "fault of the disk"),
    Fault("I/O error, in the midst", "read:EIO:every=5:after=4096", "error", "fault of the disk"),
    Fault("another file takes its name while it is read", "change:replace:every=5", "went_on"),
    Fault("cut short while it is read", "change:truncate:every=5", "error", "shrank"),
    Fault("written anew while it is read", "change:rewrite:every=5", "new_contents"),
    Fault("no memory for small files", f"aligned_alloc:ENOMEM:min={SMALL}:max=263000", "error", "out of memory",
          aimed_at="small"),
    Fault("no memory for large files", f"mmap:ENOMEM:min={LARGE}:max=3500000", "error", "out of memory", aimed_at="large"),
    Fault("no memory for large files, once", f"mmap:ENOMEM:min={LARGE}:max=3500000:times=1", "went_on",
          aimed_at="large"),
    Fault("no memory for a batch, once", "mmap:ENOMEM:min=4500000:max=6000000:times=1", "went_on", aimed_at="all"),
]


@dataclasses.dataclass
class Outcome:
    """report: the program's line of JSON, empty if it gave none."""
    exit_code: int
    report: dict
    text: str


class Data:
    """A generated folder in ILSVRC's layout. Beside some pictures lies NAME.new: other contents of the same length."""

    def __init__(self, folder, program):
        self.folder = folder
        subprocess.run([program, "--data", folder, "--generate", str(PICTURES)], check=True, capture_output=True)
        self.pictures = sorted((folder / "Data").rglob("*.JPEG"))
        by_size = sorted(self.pictures, key=lambda path: path.stat().st_size)
        self.aims = {"small": by_size[:5], "large": by_size[5:10], "all": self.pictures}
        for path in self.aims["small"]:
            lengthen(path, SMALL)
        for path in self.aims["large"]:
            lengthen(path, LARGE)
        # Memory for files comes in sizes: those of this one are asked for alike.
        self.aims["small"] = [path for path in self.pictures if 229_312 < path.stat().st_size <= 262_080]
        self._write_new_contents()

    def _write_new_contents(self):
        shortest = min(self.pictures, key=lambda path: path.stat().st_size)
        for path in self.pictures:
            new = path.with_name(path.name + ".new")
            shutil.copy(shortest, new)
            lengthen(new, path.stat().st_size)

    def copy_to(self, folder):
        """A copy of it all. Nothing in it is to be written in place."""
        shutil.copytree(self.folder, folder, copy_function=os.link)
        return folder


def lengthen(path, size):
    if path.stat().st_size > size:
        raise Failure(f"{path} has more than {size} bytes")
    with open(path, "ab") as stream:
        stream.truncate(size)


def replace(path, contents):
    """A new file, so that others of the same inode stay as they are."""
    path.unlink()
    path.write_bytes(contents)


class Runner:
    """Runs the program, with faults or without."""

    def __init__(self, program, shim, data, scratch):
        self.program, self.shim, self.data, self.scratch = program, shim, data, scratch
        self._log = scratch / "log"

    def run(self, folder, flags, spec=""):
        command = [self.program, "--data", folder / "Data", "--batch", "8", "--reps", "1", "--json", "--quiet", *flags]
        environment = dict(os.environ)
        self._log.unlink(missing_ok=True)
        if spec:
            environment |= {"LD_PRELOAD": str(self.shim), "PENSTOCK_FAULTS": spec + ":match=.JPEG",
                            "PENSTOCK_FAULTS_LOG": str(self._log)}
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S,
                                  check=False)
        except subprocess.TimeoutExpired as error:
            raise Failure(f"hangs for {PATIENCE_S} s") from error
        return Outcome(done.returncode, json.loads(done.stdout or "{}"), done.stderr)

    def hits(self):
        """What the last run's faults were, each once."""
        return sorted(set(self._log.read_text().splitlines())) if self._log.exists() else []

    @functools.cache
    def reference(self, change, pictures, flags):
        """The report of a run without faults in which `change` was done to these pictures."""
        with tempfile.TemporaryDirectory(dir=self.scratch) as name:
            folder = self.data.copy_to(pathlib.Path(name) / "copy")
            for picture in pictures:
                self._change(change, folder, picture)
            outcome = self.run(folder, flags)
        if outcome.exit_code:
            raise Failure(f"without faults: {outcome.text}")
        return outcome.report

    def _change(self, change, folder, picture):
        path = folder / picture.relative_to(self.data.folder)
        if change == "emptied":
            replace(path, b"")
        elif change == "new":
            replace(path, picture.with_name(picture.name + ".new").read_bytes())


def expect(is_true, text):
    if not is_true:
        raise Failure(text)


class Judge:
    """Says in words what a run with faults has done, or raises Failure."""

    def __init__(self, runner, data):
        self.runner, self.data = runner, data

    def judge(self, fault, mode):
        """(pictures hit, outcome)"""
        flags = ("--workload", "eval", "--on-error", "skip", "--digest-timed", *MODES[mode])
        outcome = self.runner.run(self.data.folder, flags, fault.spec)
        hits = self.runner.hits()
        expect(outcome.exit_code == 0, f"exit code {outcome.exit_code}: {outcome.text}")
        expect(hits, "no fault was met")
        if fault.aimed_at != "paths":
            pictures = tuple(self.data.aims[fault.aimed_at])
        else:
            pictures = tuple(pathlib.Path(path) for path in hits)
        report = outcome.report
        failed = report["errors"]
        delivered = report["images"] if fault.aimed_at != "all" else report["samples"]
        expect(delivered + failed == PICTURES, f"{delivered} delivered and {failed} failed are not {PICTURES}")
        return len(pictures), getattr(self, fault.outcome)(report, pictures, flags)

    def _same(self, report, change, pictures, flags):
        reference = self.runner.reference(change, pictures, flags)
        for key in ("digest", "samples", "errors"):
            expect(report[key] == reference[key], f"{key} {report[key]}, without faults {reference[key]}")

    def went_on(self, report, _, flags):
        self._same(report, "nothing", (), flags)
        return "goes on, all samples"

    def error(self, report, pictures, flags):
        expect(report["errors"] == len(pictures), f"{report['errors']} errors for {len(pictures)} files")
        self._same(report, "emptied", pictures, flags)
        return "counted error, all others' samples"

    def new_contents(self, report, pictures, flags):
        self._same(report, "new", pictures, flags)
        return "read anew, samples of the new contents"

    def words(self, fault):
        """What a user reads whose run stops at the first error."""
        if not fault.words:
            return ""
        outcome = self.runner.run(self.data.folder, ("--workload", "eval"), fault.spec)
        report = outcome.report
        expect(outcome.exit_code == 1 and report.get("failed") == 1, f"does not stop: exit code {outcome.exit_code}, {report}")
        expect(fault.words in outcome.text, f"'{fault.words}' is not in: {outcome.text}")
        expect(str(self.data.folder) in outcome.text, f"names no file: {outcome.text}")
        return f"...{fault.words}..."


HEAD = """# What becomes of faults

`penstock-imagenet` as it is, over {pictures} pictures, `--workload eval`, `--on-error skip`; the faults are
played by `shim.cc` through LD_PRELOAD. `fault_matrix.py` makes this table and checks each cell: the digest is that of a run without
faults over what the files then hold, delivered + failed = {pictures}, and errors are as many as files hit. The last column is
part of the text with which a run stops where errors are not skipped; it names the file, too.

| fault | files hit | engine | --serial | says |
|---|---|---|---|---|
"""


def table(judge, faults):
    """(the table, failures)"""
    lines, failures = HEAD.format(pictures=PICTURES), []
    for fault in faults:
        try:
            hit, engine = judge.judge(fault, "engine")
            also_hit, serial = judge.judge(fault, "serial")
            expect(hit == also_hit, f"hit {hit} files and, serially, {also_hit}")
            lines += f"| {fault.what} | {hit} | {engine} | {serial} | {judge.words(fault)} |\n"
        except Failure as failure:
            failures.append(f"{fault.what} ({fault.spec}): {failure}")
    return lines, failures


def main():
    program, shim, matrix = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    chosen = [f for f in FAULTS if os.environ.get("PENSTOCK_FAULT", "") in f.what]
    with tempfile.TemporaryDirectory(prefix="penstock-faults-") as name:
        scratch = pathlib.Path(name)
        data = Data(scratch / "data", program)
        lines, failures = table(Judge(Runner(program, shim, data, scratch), data), chosen)
    print(lines)
    if failures:
        sys.exit("\n".join(failures))
    if sys.argv[4:] == ["--update"]:
        matrix.write_text(lines)
    elif len(chosen) == len(FAULTS) and lines != matrix.read_text():
        sys.exit("".join(difflib.unified_diff(matrix.read_text().splitlines(True), lines.splitlines(True),
                                              str(matrix), "measured")))


if __name__ == "__main__":
    main()
