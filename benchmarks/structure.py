"""State the size and the structure of the project in numbers: `python benchmarks/structure.py [CHECKOUT]`.

Lines by area, beside those of an earlier checkout if `--before` names one; modules, modules with a single
importer, import cycles, large folders, repeated class names, and how many files and functions of zscope one
record of type 119 subtype 11 passes on its way from a dump into the store.
"""

from __future__ import annotations

import argparse
import ast
import json
import statistics
import subprocess
import tempfile
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CHECKOUT = Path(__file__).resolve().parents[1]
ROOTS = ("schemas", "parsers", "pipelines", "sample-data", "app")
LARGE_FOLDER = 25
KINDS = ("Python", "declarations")
TRACE = """
import sys, threading
from zscope.app.cli.main import program as main
seen = set()
def note(frame, event, argument):
    code = frame.f_code
    # Bodies of modules and classes are not optimized code: only functions count.
    if event == "call" and any(root in code.co_filename for root in roots) and code.co_flags & 1:
        seen.add((code.co_filename, code.co_qualname))
folder = sys.argv.pop()
roots = sys.argv.pop().split()
arguments = sys.argv[1:]
# The first load reads the declarations, which are cached; the second only decodes and stores the record.
for store in ("first", "second"):
    sys.argv = ["zscope", "ingest", *arguments, "--store", f"{folder}/{store}"]
    if store == "second":
        threading.setprofile(note)
        sys.setprofile(note)
    try:
        main()
    except SystemExit:
        pass
sys.setprofile(None)
import json
print(json.dumps(sorted(seen)), file=sys.stderr)
"""


def modules(checkout: Path) -> dict[str, Path]:
    """Every module of the source roots by its dotted name."""
    paths = [(root, path) for root in ROOTS for path in sorted((checkout / root / "zscope").rglob("*.py"))]
    names = (".".join(path.relative_to(checkout / root).with_suffix("").parts) for root, path in paths)
    return {name.removesuffix(".__init__"): path for name, (_, path) in zip(names, paths, strict=True)}


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(name: str, path: Path, known: dict[str, Path]) -> set[str]:
    """The modules of the project that a module imports, in functions and for types too."""
    result = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            result |= {
                f"{node.module}.{a.name}" if f"{node.module}.{a.name}" in known else node.module
                for a in node.names
            }
        elif isinstance(node, ast.Import):
            result |= {alias.name for alias in node.names}
    return (result & known.keys()) - {name}


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other, directly or through others."""
    reach: dict[str, set[str]] = {}
    for start in graph:
        seen: set[str] = set()
        todo = [start]
        while todo:
            for target in graph[todo.pop()] - seen:
                seen.add(target)
                todo.append(target)
        reach[start] = seen
    groups = {frozenset({a, *(b for b in reach[a] if a in reach[b])}) for a in graph if a in reach[a]}
    return sorted(sorted(group) for group in groups)


def class_names(known: dict[str, Path]) -> dict[str, list[str]]:
    """Class names that occur in more than one place, and where."""
    places = defaultdict(list)
    for name, path in known.items():
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(name)
    return {name: where for name, where in sorted(places.items()) if len(where) > 1}


def area_of(path: Path) -> str:
    """Return the area of a file: the folder below a package, two folders of the tests, else the first folder.

    >>> area_of(Path("pipelines/zscope/pipelines/store/folder.py")), area_of(Path("tests/rules/x.py"))
    ('pipelines/store', 'tests/rules')
    """
    folders = path.parent.parts
    if "zscope" in folders[:2]:
        return "/".join((folders[0], *folders[3:4]))
    if folders[:1] == ("tests",):
        return "/".join(folders[:3] if "cases" in folders else folders[:2])
    return folders[0] if folders else "."


def lines_by_area(checkout: Path) -> dict[str, Counter[str]]:
    """Return the lines of Python and of declarations (TOML, SQL) under version control in each area."""
    areas: dict[str, Counter[str]] = defaultdict(Counter)
    listed = subprocess.run(["git", "ls-files"], cwd=checkout, capture_output=True, text=True, check=True)
    for path in map(Path, listed.stdout.splitlines()):
        kind = {".py": "Python", ".toml": "declarations", ".sql": "declarations"}.get(path.suffix)
        if kind and (checkout / path).is_file():
            areas[area_of(path)][kind] += len((checkout / path).read_text(encoding="utf-8").splitlines())
    return areas


def print_areas(checkout: Path, before: Path | None) -> None:
    """Print the lines of each area; with another checkout, what it has and the difference."""
    now = lines_by_area(checkout)
    then = lines_by_area(before or checkout)
    print(f"{'area':32}" + "".join(f"{kind:>14}{'before':>9}{'change':>9}" for kind in KINDS))
    for areas in (now, then):
        areas["all"] = sum(areas.values(), Counter())
    for area in (*sorted({*now, *then} - {"all"}), "all"):
        counts = [(now[area][kind], then[area][kind]) for kind in KINDS]
        print(f"{area:32}" + "".join(f"{new:14,}{old:9,}{new - old:+9,}" for new, old in counts))


def large_folders(checkout: Path) -> Iterator[tuple[str, int]]:
    """Folders under version control with more than 25 files."""
    listed = subprocess.run(["git", "ls-files"], cwd=checkout, capture_output=True, text=True, check=True)
    count = Counter(str(Path(line).parent) for line in listed.stdout.splitlines())
    yield from sorted((folder, files) for folder, files in count.items() if files > LARGE_FOLDER)


def passed_by_a_record(checkout: Path) -> tuple[int, int]:
    """Files and functions of zscope that run while a dump of zERT connection detail records is loaded."""
    python = checkout / ".venv" / "bin" / "python"
    with tempfile.TemporaryDirectory(prefix="zscope-structure-") as folder:
        sample = checkout / "sample-data" / "smf-sample.bin"
        command = [str(python), "-c", TRACE, str(sample), "--select", "119(11)", "--timezone", "+01:00"]
        places = " ".join(f"{checkout}/{root}/zscope/" for root in ROOTS)
        done = subprocess.run(
            [*command, places, folder], cwd=folder, capture_output=True, text=True, check=True
        )
        seen = json.loads(done.stderr.splitlines()[-1])
    return len({file for file, _ in seen}), len(seen)


def checkouts_named(arguments: Sequence[str] | None) -> tuple[Path, Path | None]:
    """Return the checkouts of the command line; any other folder ends the program with a message."""
    parser = argparse.ArgumentParser(description=__doc__.partition(": ")[0] + ".")
    parser.add_argument(
        "checkout", type=Path, nargs="?", default=CHECKOUT,
        help="a checkout in which `make env` has run; default: the one of this program",
    )  # fmt: skip
    parser.add_argument("--before", type=Path, help="an earlier checkout, whose lines are printed beside")
    named = parser.parse_args(arguments)
    checkout: Path = named.checkout.resolve()
    if missing := [root for root in ROOTS if not (checkout / root / "zscope").is_dir()]:
        parser.error(f"{checkout} is no checkout of zscope: it has no folder {missing[0]}/zscope")
    if not (checkout / ".venv" / "bin" / "python").exists():
        parser.error(f"{checkout} has no environment: run `make env` there")
    if named.before and not (named.before / "pyproject.toml").is_file():
        parser.error(f"{named.before} is no checkout of zscope")
    return checkout, named.before


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the numbers."""
    checkout, before = checkouts_named(arguments)
    print_areas(checkout, before)
    known = modules(checkout)
    graph = {name: imports(name, path, known) for name, path in known.items()}
    importers = Counter(target for targets in graph.values() for target in targets)
    single = sorted(name for name in known if importers[name] == 1)
    lines = [len(path.read_text(encoding="utf-8").splitlines()) for path in known.values()]
    files, functions = passed_by_a_record(checkout)
    print(f"modules: {len(known)}; lines: {sum(lines)}, median {statistics.median(lines):.0f}")
    print(f"modules with one importer: {len(single)} ({100 * len(single) / len(known):.0f} %)")
    print(f"files and functions passed by a record of 119-11: {files}, {functions}")
    print(f"import cycles, types included: {cycles(graph) or 'none'}")
    print(f"folders over {LARGE_FOLDER} files: {list(large_folders(checkout)) or 'none'}")
    repeated = class_names(known)
    print(f"repeated class names: {len(repeated)}", repeated or "")


if __name__ == "__main__":
    main()
