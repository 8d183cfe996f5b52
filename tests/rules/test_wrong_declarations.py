"""Wrong keys, missing keys, wrong types in each kind of TOML file: file, line, key, and what is allowed."""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from zscope.app.cli.nightly.settings_file import read_nightly_settings
from zscope.app.cli.screen.screen_declarations import ScreenFile
from zscope.app.figures.figure_declarations import FigureFile, FigureWords
from zscope.app.report.report_sections import ReportSections
from zscope.pipelines.estimate.statuses import Sentence
from zscope.pipelines.metrics.declarations import load
from zscope.pipelines.metrics.metric_checks import FindingsFile, PracticesFile
from zscope.pipelines.quality.declared_checks import read_expectations
from zscope.pipelines.runs.read import read_file
from zscope.pipelines.settings import read_settings
from zscope.samples.dump.dump_scenario import DumpScenario
from zscope.samples.dump.record_declaration import RecordDeclaration
from zscope.samples.dump.records.rmf_machine import DeclaredMachine
from zscope.samples.reports.displays import DisplayContents
from zscope.samples.space_worlds import read_space_kinds
from zscope.samples.systems.plan import SystemsPlan
from zscope.samples.world.declared_runs import read_benchmark_runs
from zscope.samples.world.world_scenario import WorldScenario
from zscope.schemas.attls import AttlsFile
from zscope.schemas.catalogue_schemas import PublicViews
from zscope.schemas.declared import TomlFile
from zscope.schemas.errors import DeclarationError, SettingsError
from zscope.schemas.load import read_catalog
from zscope.schemas.published import read_published
from zscope.schemas.questions import read_questions
from zscope.schemas.reports import read_report_tables
from zscope.schemas.toml_lines import KeyPath, key_lines

ROOT = Path(__file__).parents[2]
SCHEMAS, PIPELINES = ROOT / "schemas/zscope/schemas", ROOT / "pipelines/zscope/pipelines"
SAMPLES, APP = ROOT / "sample-data/zscope/samples", ROOT / "app/zscope/app"

Read = Callable[[Path], object]


def as_type(declared: object) -> Read:
    return lambda path: TomlFile.read(path).typed(declared)  # type: ignore[arg-type]


def runs_of(path: Path) -> None:
    """Raise the problems that the reader of runs.toml returns."""
    first, *others = [
        SettingsError(each.file, each.key, each.text, each.line) for each in read_file(path).problems
    ]
    raise SettingsError(first.file, first.key, first.problem, first.line, tuple(others))


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of TOML file: an example, and a key in it that is required and has no other form."""

    name: str
    path: Path | str
    """A file of the project, or the text of a file of a user."""
    key: KeyPath
    allowed: str
    read: Read
    others: str = ""
    """A pattern of all files of this kind."""
    required: bool = True


FROM = '"runs", "metric", "inputs" or "nothing"'
SETTINGS = '[systems.SYSA]\ntimezone = "UTC"\n\n[ingest]\nvalidate = true\n'
NIGHTLY = 'store = "s"\n\n[load]\nfolders = ["new"]\n\n[[export]]\ntarget = "out.duckdb"\n'
RUNS = """\
[[run]]
name = "a"
system = "SYSA"
role = "client"
from = 2026-03-09T01:00:00Z
to = 2026-03-09T02:00:00Z
"""
RESULTS: KeyPath = ("group", 0, "results", 0, "as_printed")
KINDS = [
    FileKind(
        "layout", SCHEMAS / "layouts/smf119_20.toml", ("section", 0, "fields", 0, "offset"), "an integer",
        lambda path: read_catalog(path.parents[1]), "layouts/smf[0-9]*[0-9].toml",
    ),
    FileKind(
        "table of a layout", SCHEMAS / "layouts/smf119_20.toml", ("table", 0, "grain"), "a list of texts",
        lambda path: read_catalog(path.parents[1]),
    ),
    FileKind(
        "family of layouts", SCHEMAS / "layouts/smf119_common.toml", ("header", "fields", 0, "column"),
        "a text", lambda path: read_catalog(path.parents[1]), "layouts/*_common.toml",
    ),
    FileKind(
        "standard header", SCHEMAS / "layouts/smf_header.toml", ("section", 0, "fields", 3, "meaning"),
        "a text", lambda path: read_catalog(path.parents[1]), "layouts/smf_header.toml",
    ),
    FileKind(
        "sources", SCHEMAS / "layouts/sources.toml", ("erbsmfr-map", "title"), "a text",
        lambda path: read_catalog(path.parents[1]), "layouts/sources.toml",
    ),
    FileKind(
        "codes", SCHEMAS / "codes/crypto.toml", ("accelerator_card", "title"), "a text",
        lambda path: read_catalog(path.parents[1]), "codes/*.toml",
    ),
    FileKind(
        "report", SCHEMAS / "reports/netstat_conn.toml", ("columns", 2, "meaning"), "a text",
        lambda path: read_report_tables(path.parent), "reports/*.toml",
    ),
    FileKind(
        "columns of several reports", SCHEMAS / "reports/lead.toml", ("display", "columns", 1, "column"),
        "a text", lambda path: read_report_tables(path.parent),
    ),
    FileKind(
        "questions", SCHEMAS / "questions.toml", ("question", 1, "needs", 0, "any"), "a list of texts",
        lambda path: read_questions(TomlFile.read(path)), "schemas/questions.toml",
    ),
    FileKind(
        "public views", SCHEMAS / "public_views.toml", ("view", 1, "example"), "a text",
        as_type(PublicViews), "schemas/public_views.toml",
    ),
    FileKind(
        "AT-TLS parameters", SCHEMAS / "attls_parameters.toml", ("parameters", 2, "scopes"),
        "a list of texts", as_type(AttlsFile), "schemas/attls_parameters.toml",
    ),
    FileKind(
        "documents", SCHEMAS / "published/documents.toml", ("perf32", "author"), "a text",
        lambda path: read_published(path.parent), "published/documents.toml",
    ),
    FileKind(
        "comparison rules", SCHEMAS / "published/fillings.toml", ("transaction-time", "from"), FROM,
        lambda path: read_published(path.parent), "published/fillings.toml",
    ),
    FileKind(
        "methods", SCHEMAS / "published/methods.toml", ("method", 1, "purpose"), "a text",
        lambda path: read_published(path.parent), "published/methods.toml",
    ),
    FileKind(
        "practices", SCHEMAS / "published/practices.toml", ("practice", 1, "effect"), "a text",
        lambda path: read_published(path.parent), "published/practices.toml",
    ),
    FileKind(
        "ratios", SCHEMAS / "published/ratios.toml", ("ratio", 1, "title"), "a text",
        lambda path: read_published(path.parent), "published/ratios.toml",
    ),
    FileKind(
        "published results", SCHEMAS / "published/results_mq.toml", RESULTS, "a text",
        lambda path: read_published(path.parent), "published/results_*.toml",
    ),
    FileKind(
        "metric", PIPELINES / "metrics/ciphers/cipher_distribution.toml", ("question",), "a text",
        lambda path: load(path.parents[1]), "metrics/*/*.toml",
    ),
    FileKind(
        "column of a metric", PIPELINES / "metrics/handshakes/handshake_mix.toml", ("columns", -1, "meaning"),
        "a text", lambda path: load(path.parents[1]),
    ),
    FileKind(
        "step like another", PIPELINES / "metrics/handshakes/open_handshake_slot.toml", ("instead_of",),
        "a table", lambda path: load(path.parents[1]),
    ),
    FileKind(
        "findings", PIPELINES / "metrics/posture/finding.checks.toml", ("finding", 2, "of"),
        '"connection" or "certificate"', as_type(FindingsFile), "metrics/posture/*.checks.toml",
    ),
    FileKind(
        "checks of practices", PIPELINES / "metrics/posture/best_practice_check.checks.toml",
        ("rule", 1, "capture"), "a text", as_type(PracticesFile),
    ),
    FileKind(
        "expectations", PIPELINES / "quality/expectations/attls.toml", ("expectation", 1, "table"), "a text",
        lambda path: read_expectations(TomlFile.read(path)), "quality/expectations/*.toml",
    ),
    FileKind(
        "statuses", PIPELINES / "estimate/statuses.toml", ("few_intervals", "sentence"), "a text",
        as_type(dict[str, Sentence]), "estimate/statuses.toml",
    ),
    FileKind(
        "sections of the report", APP / "report/sections.toml", ("section", 0, "capture"), "a text",
        as_type(ReportSections), "report/sections.toml",
    ),
    FileKind(
        "parts of the screen", APP / "cli/screen/screen.toml", ("part", 0, "command"), "a text",
        as_type(ScreenFile), "screen/screen.toml",
    ),
    FileKind(
        "figures", APP / "figures/cost.toml", ("figure", 1, "order"), "a text", as_type(FigureFile),
        "figures/[!w]*.toml",
    ),
    FileKind(
        "words of figures", APP / "figures/words.toml", ("heading", 0, "words"), "a text",
        as_type(FigureWords), "figures/words.toml",
    ),
    FileKind(
        "records of a dump", SAMPLES / "dump/records/tcp_init.toml", ("section", 0, "key"), "a text",
        as_type(RecordDeclaration), "*/records/*.toml",
    ),
    FileKind(
        "scenario of a dump", SAMPLES / "dump/scenario.toml", ("suite", 1, "code"), "a text",
        as_type(DumpScenario), "dump/scenario.toml",
    ),
    FileKind(
        "machine of a dump", SAMPLES / "dump/rmf_machine.toml", ("type", 0, "name"), "a text",
        as_type(DeclaredMachine), "dump/rmf_machine.toml",
    ),
    FileKind(
        "displays", SAMPLES / "reports/displays.toml", ("listening",), "a list of texts",
        as_type(DisplayContents), "samples/reports/displays.toml",
    ),
    FileKind(
        "scenario of a world", SAMPLES / "world/scenario.toml", ("system", 1, "address"), "a text",
        as_type(WorldScenario), "world/scenario.toml",
    ),
    FileKind(
        "runs of a world", SAMPLES / "world/benchmark_runs.toml", ("run", 1, "name"), "a text",
        lambda path: read_benchmark_runs(TomlFile.read(path)), "world/benchmark_runs.toml",
    ),
    FileKind(
        "worlds with applications", SAMPLES / "space_worlds.toml", ("plain in all jobs", "plain"), "a list",
        lambda path: read_space_kinds(TomlFile.read(path)), "samples/space_worlds.toml", required=False,
    ),
    FileKind(
        "plan of systems", SAMPLES / "systems/plan.toml", ("mq", "repetitions"), "an integer",
        as_type(SystemsPlan), "systems/plan.toml",
    ),
    FileKind(
        "settings", SETTINGS, ("ingest", "validate"), "true or false", read_settings,
        required=False,
    ),
    FileKind("nightly batch", NIGHTLY, ("export", 0, "target"), "a path", read_nightly_settings),
    FileKind("runs", RUNS, ("run", 0, "role"), '"client", "server" or "tls-test"', runs_of),
]  # fmt: skip
WITHOUT_FIXED_KEYS = "published/environments.toml"
"""The measured systems: each has the keys that its document states."""


def at(kind: FileKind, text: str) -> KeyPath:
    """Return the key; -1 is the last element of a list."""
    if -1 not in kind.key:
        return kind.key
    listed = tomllib.loads(text)[str(kind.key[0])]
    return tuple(len(listed) - 1 if part == -1 else part for part in kind.key)


def changed(text: str, key: KeyPath, form: str) -> str:
    """Return a text with another assignment of a key: `\\1` is its name, `\\2` the value."""
    lines = text.split("\n")
    number = key_lines(text)[key] - 1
    assignment = re.compile(rf'\b({key[-1]}) = ("[^"]*"|\[[^]]*\]|{{[^}}]*}}|[^,}}\n]+)')
    rest, count = assignment.subn(form, "\n".join(lines[number:]), count=1)
    assert count == 1
    return "\n".join([*lines[:number], rest])


def problems(kind: FileKind, text: str, folder: Path) -> list[DeclarationError]:
    """Return what is reported about a changed file."""
    if isinstance(kind.path, str):
        path = folder / "file.toml"
    else:
        package = next(each for each in (SCHEMAS, PIPELINES, SAMPLES, APP) if kind.path.is_relative_to(each))
        top = kind.path.relative_to(package).parts[0]
        if (package / top).is_dir():
            copied = ["layouts", "codes"] if top in {"layouts", "codes"} else [top]
            for each in copied:
                shutil.copytree(package / each, folder / each, ignore=shutil.ignore_patterns("*.py", "*.pyc"))
        path = folder / kind.path.relative_to(package)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DeclarationError) as caught:
        kind.read(path)
    assert Path(caught.value.file).name == path.name
    return [caught.value, *caught.value.further]


def text_of(kind: FileKind) -> str:
    return kind.path if isinstance(kind.path, str) else kind.path.read_text(encoding="utf-8")


each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


@each_kind
def test_a_misspelt_key_is_reported_with_the_valid_ones(kind: FileKind, tmp_path: Path) -> None:
    text = text_of(kind)
    key = at(kind, text)
    wrong: KeyPath = (*key[:-1], f"{key[-1]}x")
    text = changed(text, key, r"\1x = \2")
    [found] = [each for each in problems(kind, text, tmp_path) if each.key.endswith(f"{key[-1]}x")]
    assert found.line == key_lines(text)[wrong]
    assert found.problem.startswith("is not a valid key; valid: ")
    assert re.search(rf"did you mean .*\b{key[-1]}\b", found.problem)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.required], ids=lambda kind: kind.name)
def test_a_missing_key_is_reported_with_what_is_expected(kind: FileKind, tmp_path: Path) -> None:
    text = text_of(kind)
    key = at(kind, text)
    text = changed(text, key, "")
    text = re.sub(r"(?<=[{,]) *,|, *(?=})", "", text)
    [found] = [each for each in problems(kind, text, tmp_path) if "is missing" in each.problem]
    assert found.line == (key_lines(text)[key[:-1]] if len(key) > 1 else None)
    assert found.key.split(".")[-1] == key[-1]
    assert found.problem.startswith(f"is missing; expected {kind.allowed}")


@each_kind
def test_a_value_of_a_wrong_type_is_reported_with_what_is_expected(kind: FileKind, tmp_path: Path) -> None:
    text = text_of(kind)
    key = at(kind, text)
    text = changed(text, key, r"\1 = 1979-05-27")
    [found] = problems(kind, text, tmp_path)
    assert found.line == key_lines(text)[key]
    assert found.key.split(".")[-1] == key[-1]
    assert found.problem.startswith(f"expected {kind.allowed}")
    assert found.problem.endswith(", got 1979-05-27")


def test_every_file_of_the_project_is_of_one_of_these_kinds() -> None:
    packages = (SCHEMAS, PIPELINES, SAMPLES, APP)
    every = {path for package in packages for path in package.rglob("*.toml")}
    of_kinds = {path for path in every for kind in KINDS if kind.others and path.match(kind.others)}
    assert [path for path in every - of_kinds if not path.match(WITHOUT_FIXED_KEYS)] == []
