"""Count the faults of texts that lose something silently: `make silent-losses ARGS="--all --silent"`.

The inputs are all texts and CSV files of the sample data and of the real files. Each gets cuts inside words
at its front and at its end, and lines dropped, doubled, exchanged and joined, and wrong letters. A row that
vanishes or changes must come with an issue that names the place, or the fault is of a kind that no reader can
detect. Both are counted and printed; the tests allow no silent loss.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.parsers.text.faults.loss_oracle import Undetectable, judge, read_text, report_places
from tests.parsers.text.faults.text_faults import cuts, line_faults

from zscope.schemas.reports import report_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CHECKOUT = Path(__file__).resolve().parents[4]
SAMPLE_DATA = CHECKOUT / "sample-data"
SUFFIXES = (".txt", ".csv", ".log", ".conf", ".txt.gz")
_LONGEST = 32_768
"""Longer inputs are shortened: the rest of them repeats the forms of the begin."""


class Effort(NamedTuple):
    """How many faults each input gets."""

    faults: int
    cuts: int
    """At the front, and so many at the end."""


QUICK = Effort(10, 2)
DEEP = Effort(40, 6)
ALL = Effort(2_000, 200)


@dataclass
class LossCount:
    """The faults of one input and what became of them."""

    family: str = ""
    rows: int = 0
    tried: int = 0
    silent: list[str] = field(default_factory=list)
    undetectable: Counter[Undetectable] = field(default_factory=Counter)


def text_inputs(folder: Path) -> list[Path]:
    """Return all texts and CSV files of a folder that are no readme and no part of the package."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.name.endswith(SUFFIXES)
        and path.name.lower() != "readme.txt"
        and "zscope" not in path.relative_to(folder).parts
    )


def content_of(path: Path) -> str:
    """Return the unpacked text of an input, or its begin if it is long."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    text = raw.decode("utf-8")
    return text if len(text) <= _LONGEST else text[: text.rindex("\n", 0, _LONGEST) + 1]


def count_losses(path: Path, effort: Effort, folder: Path, seed: str = "") -> LossCount:
    """Apply the faults of an effort to an input, and judge each. Another seed chooses other faults."""
    text = content_of(path)
    file = folder / path.name.removesuffix(".gz")
    good = read_text(file, text)
    before = type(good)(good.rows, good.issues, report_places(file, text))
    count = LossCount(_family(row.table for row in before.rows), len(before.rows))
    seed = f"{path.name} {seed}".rstrip()
    for fault in (*cuts(text, effort.cuts, seed), *line_faults(text, effort.faults, seed)):
        judgement = judge(before, read_text(file, fault.applied(text)), fault)
        count.tried += 1
        if judgement.undetectable:
            count.undetectable[judgement.undetectable] += 1
        if judgement.silent:
            count.silent.append(judgement.silent)
    return count


def _family(tables: Iterable[str]) -> str:
    """Return the family to which most rows belong."""
    families = Counter(report_table(table).family for table in tables)
    return families.most_common(1)[0][0] if families else "no report"


def name_of(path: Path) -> str:
    """Return the name of an input of the sample data."""
    return path.relative_to(SAMPLE_DATA).as_posix()


def _count_in_folder(path: Path, effort: Effort, seed: str) -> LossCount:
    with tempfile.TemporaryDirectory() as folder:
        return count_losses(path, effort, Path(folder), seed)


def _print_counts(counts: Mapping[str, LossCount], *, silent: bool) -> None:
    for name, count in counts.items():
        print(f"{len(count.silent):6,} of {count.tried:6,}  {name} ({count.family}, {count.rows} rows)")
        for text in count.silent if silent else ():
            print(f"        {text}")
    print("\nSilent losses by family:")
    for family in sorted({count.family for count in counts.values()}):
        of_family = [count for count in counts.values() if count.family == family]
        silent_faults = sum(len(count.silent) for count in of_family)
        print(f"{silent_faults:6,} of {sum(count.tried for count in of_family):7,}  {family}")
    print("\nUndetectable faults, which are no losses of a reader:")
    undetectable = sum((count.undetectable for count in counts.values()), Counter[Undetectable]())
    for kind in Undetectable:
        print(f"{undetectable[kind]:6,}  {kind}")


def main() -> None:
    """Count the silent losses of all inputs, or of those with a word in their name."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--faults", type=int, default=QUICK.faults, help="faults of lines for each input")
    parser.add_argument("--cuts", type=int, default=QUICK.cuts, help="cuts at the front, and at the end")
    parser.add_argument("--seed", default="", help="a word that chooses other faults")
    parser.add_argument("--of", default="", help="only inputs with this text in their name")
    parser.add_argument("--real", type=Path, help="a folder with files of real systems, counted as well")
    parser.add_argument("--all", action="store_true", help=f"{ALL.faults:,} faults and {ALL.cuts} cuts")
    parser.add_argument("--silent", action="store_true", help="print each silent loss")
    options = parser.parse_args()
    effort = ALL if options.all else Effort(options.faults, options.cuts)
    inputs = {name_of(path): path for path in text_inputs(SAMPLE_DATA)}
    if options.real:
        inputs |= {path.relative_to(options.real).as_posix(): path for path in text_inputs(options.real)}
    chosen = {name: path for name, path in inputs.items() if options.of in name}
    with ProcessPoolExecutor() as pool:
        results = pool.map(_count_in_folder, chosen.values(), repeat(effort), repeat(options.seed))
        counts = dict(zip(chosen, results, strict=True))
    _print_counts(counts, silent=options.silent)


if __name__ == "__main__":
    main()
