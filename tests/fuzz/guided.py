"""Coverage-guided fuzzing with Atheris: `make fuzz ENTRY=smf MINUTES=30`.

The corpus of an entry is in `build/fuzz/ENTRY`; its smaller inputs are in `tests/fuzz/corpora/ENTRY.zip`,
too, and the next run continues with both. A failing input ends the run and is copied to
`tests/fuzz/found/ENTRY`. The tests check the stored inputs and the failing ones. The totals of all runs are
stored in `tests/fuzz/runs.json`. `--write-docs` writes them into `docs/trust.md`.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
import traceback
import zipfile
from dataclasses import asdict, dataclass
from hashlib import sha1, sha256
from itertools import accumulate
from pathlib import Path

from tests.document_parts import write_between

CHECKOUT = Path(__file__).resolve().parents[2]
RUNS = Path(__file__).with_name("runs.json")
FOUND = Path(__file__).with_name("found")
CORPORA = Path(__file__).with_name("corpora")
MOST_STORED = 100_000
"""Bytes of the inputs of an entry that are stored, before compression."""
DOCUMENT = CHECKOUT / "docs" / "trust.md"
BEGIN, END = "<!-- begin of the table of fuzzing -->\n", "<!-- end of the table of fuzzing -->\n"
LONGEST_S, MOST_MEMORY_MB, LONGEST_BYTES = 20, 2048, 4096
NEW_PROCESS_MB = 1024
"""A process that instruments code grows with each execution: from this size on, the next one continues."""
_DONE = re.compile(r"(\d+) executions, (\d+) MB")
_STATUS = re.compile(r"^#(\d+)\s.*\bcov: (\d+)", re.MULTILINE)


@dataclass
class Total:
    """The counts of an entry, over all runs."""

    inputs: int = 0
    seconds: int = 0
    code_reached: int = 0
    """Branches of zscope that the best run has reached."""
    kept: int = 0
    """Size of the corpus."""
    findings: int = 0
    peak_mb: int = 0


def totals() -> dict[str, Total]:
    """Return the counts of all entries."""
    return {name: Total(**counts) for name, counts in json.loads(RUNS.read_text("ascii")).items()}


def fuzz_in_this_process(name: str, arguments: list[str]) -> None:
    """Let Atheris try inputs until the time is over or an input fails."""
    import atheris

    sys.path.insert(0, str(CHECKOUT))
    with atheris.instrument_imports(include=["zscope"]):
        from tests.fuzz.entries import ENTRIES

        entry = ENTRIES[name]()
        for seed in entry.seeds:
            entry.check(seed)  # imports what is imported late, so that it is instrumented as well
    values = dict(each.split("=", 1) for each in arguments if "=" in each)
    artifacts, end = Path(values["-artifact_prefix"]), time.monotonic() + int(values["-max_total_time"])
    done = 0

    def check(content: bytes) -> None:
        """Check an input; one that fails is stored and ends the process, and so do time and memory.

        The interpreter is not shut down: libFuzzer does that while threads of Streamlit run.
        """
        nonlocal done
        if time.monotonic() > end or (done % 64 == 63 and _memory_mb() > NEW_PROCESS_MB):
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            print(f"{done} executions, {peak} MB", file=sys.stderr, flush=True)
            os._exit(0)
        try:
            entry.check(content)
        except BaseException:  # noqa: BLE001 - the process ends
            (artifacts / f"crash-{sha256(content).hexdigest()[:12]}").write_bytes(content)
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
        done += 1

    atheris.Setup([sys.argv[0], *arguments, "-max_total_time=0"], check)
    atheris.Fuzz()


def _memory_mb() -> int:
    """Return the memory of this process."""
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * resource.getpagesize() >> 20


def run(name: str, minutes: float) -> bool:
    """Fuzz an entry in a process of its own, add up the counts, and return whether no input failed."""
    corpus, artifacts = CHECKOUT / "build" / "fuzz" / name, CHECKOUT / "build" / "fuzz" / f"{name}-failed"
    shutil.rmtree(artifacts, ignore_errors=True)
    for folder in (corpus, artifacts):
        folder.mkdir(parents=True, exist_ok=True)
    _write_inputs(name, corpus)
    began = time.monotonic()
    inputs, peak_mb, reached, left_s = 0, 0, 0, round(60 * minutes)
    while left_s > 0:
        process = subprocess.run(
            [
                *(sys.executable, "-m", "tests.fuzz.guided", name, "--child"),
                *(str(corpus), f"-max_total_time={left_s}", f"-timeout={LONGEST_S}"),
                *(f"-rss_limit_mb={MOST_MEMORY_MB}", f"-max_len={LONGEST_BYTES}"),
                f"-artifact_prefix={artifacts}/",
            ],
            cwd=CHECKOUT, capture_output=True, check=False,
        )  # fmt: skip
        text = process.stdout.decode(errors="replace") + process.stderr.decode(errors="replace")
        done, status = _DONE.search(text), _STATUS.findall(text)
        inputs += int(done[1]) if done else max((int(number) for number, _ in status), default=0)
        peak_mb = max(peak_mb, int(done[2]) if done else 0)
        reached = max([reached, *(int(each) for _, each in status)])
        if not done:
            break
        left_s = round(60 * minutes - (time.monotonic() - began))
    failed = sorted(path for path in artifacts.iterdir() if not path.name.startswith("slow-unit"))
    store_inputs(name, corpus)
    with RUNS.open("r+", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # other entries may run at the same time
        total = totals()
        of = total.setdefault(name, Total())
        of.inputs += inputs
        of.seconds += round(time.monotonic() - began)
        of.code_reached = max(of.code_reached, reached)
        of.kept = len(list(corpus.iterdir()))
        of.findings += len(failed)
        of.peak_mb = max(of.peak_mb, peak_mb)
        counts = {key: asdict(total[key]) for key in sorted(total)}
        RUNS.write_text(json.dumps(counts, indent=1) + "\n", "ascii")
    for path in failed:
        content = path.read_bytes()
        kept = FOUND / name / sha256(content).hexdigest()[:12]
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(content)
        print(f"{name}: an input failed, {kept.relative_to(CHECKOUT)}", file=sys.stderr)
    if failed or process.returncode:
        print("\n".join(text.splitlines()[-60:]), file=sys.stderr)
    print(f"{name}: {inputs:,} executions, code coverage {of.code_reached:,}, corpus {of.kept:,}")
    return not failed and process.returncode == 0


def _write_inputs(name: str, corpus: Path) -> None:
    """Write the seeds and the stored inputs of an entry into its corpus, with the file names of libFuzzer."""
    from tests.fuzz.entries import ENTRIES

    for content in (*ENTRIES[name]().seeds, *stored_inputs(name)):
        (corpus / sha1(content, usedforsecurity=False).hexdigest()).write_bytes(content)


def stored_inputs(name: str) -> list[bytes]:
    """Return the stored inputs of an entry."""
    path = CORPORA / f"{name}.zip"
    if not path.exists():
        return []
    with zipfile.ZipFile(path) as archive:
        return [archive.read(each) for each in archive.namelist()]


def store_inputs(name: str, corpus: Path) -> None:
    """Store the smallest inputs of a corpus, as many as fit; the same inputs give the same bytes."""
    contents = sorted((path.read_bytes() for path in corpus.iterdir()), key=lambda each: (len(each), each))
    CORPORA.mkdir(exist_ok=True)
    with zipfile.ZipFile(CORPORA / f"{name}.zip", "w") as archive:
        for number, (content, size) in enumerate(zip(contents, accumulate(map(len, contents)), strict=True)):
            if size <= MOST_STORED:
                archive.writestr(zipfile.ZipInfo(f"{number:04}"), content, zipfile.ZIP_DEFLATED)


def table() -> str:
    """Return the counts as a table."""
    lines = [
        "| entry | executions | minutes | code coverage | corpus | findings | peak memory, MB |",
        "|-------|-----------:|--------:|--------------:|-------:|---------:|----------------:|",
    ]
    for name, of in sorted(totals().items()):
        lines.append(
            f"| {name} | {of.inputs:,} | {of.seconds / 60:.0f} | {of.code_reached:,} | {of.kept:,} "
            f"| {of.findings} | {of.peak_mb:,} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Fuzz the entries that are named, or all of them."""
    if "--child" in sys.argv:
        fuzz_in_this_process(sys.argv[1], sys.argv[3:])
        return
    from tests.fuzz.entries import ENTRIES

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("entry", nargs="*", metavar="ENTRY", help=f"default: all: {', '.join(ENTRIES)}")
    parser.add_argument("--minutes", type=float, default=1, help="for each entry (default: %(default)s)")
    parser.add_argument("--write-docs", action="store_true", help="write the table into docs/trust.md")
    options = parser.parse_args()
    if unknown := set(options.entry) - set(ENTRIES):
        parser.error(f"no entry {', '.join(sorted(unknown))}; entries: {', '.join(ENTRIES)}")
    passed = [run(name, options.minutes) for name in options.entry or ENTRIES]
    print(table(), end="")
    if options.write_docs:
        write_between(DOCUMENT, BEGIN, END, table())
    sys.exit(not all(passed))


if __name__ == "__main__":
    main()
