"""`zscope report`: one file with the numbers of the metrics, which needs nothing else."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.app.report_reading import ReadTable, ReportReader, harmless

from zscope.app.figures.figure_declarations import FigureDeclaration, declared_figures, figure_words, heading
from zscope.app.report.report_sections import appendix_figures, glance_figures, report_sections
from zscope.app.shared.column_labels import label
from zscope.pipelines.metrics import metric

if TYPE_CHECKING:
    from click.testing import Result
    from tests.app.conftest import Run

MOST_BYTES = 5_000_000
FIGURES = {figure.id: figure for figure in appendix_figures()}
OF_METRICS = [
    figure for figure in FIGURES.values() if figure.metric and not figure.select and not figure.source
]


@pytest.fixture(scope="module")
def report(demo: tuple[Path, Result], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the demo; read it only."""
    from click.testing import CliRunner

    from zscope.app.cli.main import program

    target = tmp_path_factory.mktemp("report") / "report.html"
    words = ["report", "-o", target, "--appendix", target.with_name("appendix.html"), "--store", demo[0]]
    result = CliRunner().invoke(program, list(map(str, words)), prog_name="zscope")
    assert result.exit_code == 0, result.output
    return target


@pytest.fixture(scope="module")
def written(report: Path) -> Path:
    """The appendix of the report of the demo; read it only."""
    return report.with_name("appendix.html")


def rows_of(run: Run, store: Path, *arguments: object) -> list[dict[str, Any]]:
    result = run(*arguments, "--store", store, "--json")
    assert result.exit_code == 0, result.stderr
    rows: list[dict[str, Any]] = json.loads(result.stdout)
    return rows


def same_as_the_metric(run: Run, store: Path, figure: FigureDeclaration, table: ReadTable) -> int:
    """Compare the rows of a table with those of the metric; return the number of compared numbers."""
    words: list[str] = ["metrics", figure.metric]
    by = [key for key in figure.by or () if key != "time"]
    time = figure.by is not None and len(by) < len(figure.by)
    hourly = time and any(":" in row[heading("time")].text for row in table.rows)
    if time:
        by.append(metric(figure.metric).clock if hourly else "day")
    if by:
        words += ["--by", ",".join(by)]
    if figure.where:
        words += ["--where", figure.where]
    rows = rows_of(run, store, *words)
    keys = {heading(column): column for column in figure.columns if column in rows[0]}
    known = [{name: row.get(name) for name in keys.values()} for row in rows]
    compared = 0
    for line in table.rows:
        cells = {keys[name]: cell for name, cell in line.items() if name in keys}
        numbers = {name: float(cell.value) for name, cell in cells.items() if cell.value is not None}
        texts = {
            name: cell.text
            for name, cell in cells.items()
            if cell.value is None and cell.text and not name.endswith("_utc")
            and all(isinstance(row[name], str | None) for row in known)
        }  # fmt: skip
        assert any(
            all(row[name] == pytest.approx(value, rel=1e-12) for name, value in numbers.items())
            and all(" ".join(str(row[name]).split()) == text for name, text in texts.items())
            for row in known
        ), (figure.id, line)
        compared += len(numbers)
    assert len(table.rows) <= figure.most
    return compared


@pytest.mark.parametrize("file", ["report.html", "appendix.html"])
def test_the_file_is_complete_small_and_harmless(file: str, report: Path) -> None:
    page = report.with_name(file).read_bytes()
    assert len(page) < MOST_BYTES
    assert b"http:" not in page
    assert b"https:" not in page
    read = harmless(page)
    titles = [section.title for section in report_sections()]
    whole = ["At a glance", "In short", *titles] if file == report.name else [*titles, "Definitions"]
    assert [text for level, text in read.headings if level == 2] == whole
    clocks = "All records and displays, by the clocks of the systems"
    assert f"{clocks}2026-03-02 01:00:00 to 2026-03-17 12:00:00 local time" in read.text
    # The end of the last hour with a connection; displays of GSKSRVR are later.
    assert "2026-03-02 00:00:00 to 2026-03-17 08:00:00 UTC" in read.text
    assert "zscope · TLS on IBM Z · 2026-03-02 to 2026-03-17 · CLI1, CLI2, " in read.text


def test_the_first_page_has_a_figure_for_each_question(report: Path) -> None:
    read = harmless(report.read_bytes())
    questions = [figure.question for figure in glance_figures()]
    assert all(questions)
    assert [text for level, text in read.headings if level == 3][: len(questions)] == questions
    for figure in glance_figures():
        assert figure.chart is not None
        assert figure.chart.what in read.text


def test_a_table_of_the_report_has_a_few_rows_of_that_of_the_appendix(report: Path, written: Path) -> None:
    short, whole = (ReportReader(file.read_bytes()).tables for file in (report, written))
    assert 3 < len(short) < len(whole) / 2
    for name, table in short.items():
        rows = [[cell.text for cell in row.values()] for row in table.rows]
        assert rows == [[row[key].text for key in table.rows[0]] for row in whole[name].rows[: len(rows)]]
        assert len(rows) <= 6


def test_sentences_are_those_of_the_summary(report: Path, run: Run, demo: tuple[Path, Result]) -> None:
    text = ReportReader(report.read_bytes()).text
    for row in rows_of(run, demo[0], "summary"):
        assert row["sentence"] in text


def test_the_list_behind_a_sentence_begins_with_what_it_names(
    written: Path, run: Run, demo: tuple[Path, Result]
) -> None:
    tables = ReportReader(written.read_bytes()).tables
    first = {name: {column: cell.text for column, cell in tables[name].rows[0].items()} for name in tables}
    said = {row["subject"]: row["sentence"] for row in reversed(rows_of(run, demo[0], "summary"))}
    assert said["price"].startswith(f"{first['price-by-system']['System']}: ")
    advice = first["advice-by-rule"]
    assert f" {advice['System']}: {advice['Change']}: " in said["saving"]
    place = first["unprotected"]
    assert (
        f"The largest part of them, {place['Unprotected']}, was of job {place['Job']}, "
        f"on port {place['Port']} of {place['System']}."
    ) in said["exposure"]


def test_strips_of_coverage_have_the_shares_of_the_metric(
    written: Path, run: Run, demo: tuple[Path, Result]
) -> None:
    read = ReportReader(written.read_bytes())
    recorded = [
        row
        for row in rows_of(run, demo[0], "metrics", "coverage", "--by", "system,source")
        if row["hours"] > row["hours_not_recorded"]
    ]
    assert read.text.count(" % covered") == len(recorded) > 20
    assert len(read.tables["covered-hours"].rows) == len(recorded)
    lost = {
        row["hours_with_loss"] for row in recorded if row["source"] == "119-5" and row["hours_with_loss"] > 1
    }
    assert lost
    assert all(f"{hours} hours of 119-5 are lost or partial" in read.text for hours in lost)


@pytest.mark.parametrize("name", ["handshakes-by-system", "price-by-job"])
def test_tables_have_the_numbers_of_the_metrics(
    name: str, written: Path, run: Run, demo: tuple[Path, Result]
) -> None:
    table = ReportReader(written.read_bytes()).tables[name]
    assert same_as_the_metric(run, demo[0], FIGURES[name], table) > 3


@pytest.mark.deep
def test_all_tables_have_the_numbers_of_the_metrics(
    written: Path, run: Run, demo: tuple[Path, Result]
) -> None:
    store, _ = demo
    read = harmless(written.read_bytes())
    compared = {
        figure.id: same_as_the_metric(run, store, figure, read.tables[figure.id])
        for figure in OF_METRICS if figure.id in read.tables
    }  # fmt: skip
    assert len(compared) > 12
    assert sum(compared.values()) > 500
    findings = rows_of(run, store, "metrics", "check_result", "--where", "kind = 'finding'")
    for line in read.tables["finding-kinds"].rows:
        places = [row for row in findings if row["what"] == line["What"].text]
        assert int(line["Places"].value or 0) == len(places)
        assert int(line["Connections"].value or 0) == sum(row["connections"] for row in places)
    [best] = {line["Source"].text for line in read.tables["ports"].rows}
    assert best == "zERT summary"
    ports = rows_of(
        run, store, "metrics", "protocol_distribution", "--by", "server_port", "--where", f"source = '{best}'"
    )
    of_port = {row["server_port"]: row["connections"] for row in ports}
    assert of_port == {
        int(line["Port"].value or 0): int(line["Connections"].value or 0)
        for line in read.tables["ports"].rows
    }
    loads = {row["load_id"]: row["rows"] for row in rows_of(run, store, "loads")}
    assert loads == {
        int(line["Load"].value or 0): int(line["Rows"].value or 0) for line in read.tables["loads"].rows
    }
    verdicts = rows_of(run, store, "benchmark")
    for line in read.tables["verdicts-by-document"].rows:
        of_line = [
            row
            for row in verdicts
            if (row["document"], row["verdict"]) == (line["Document"].text, line["Verdict"].text)
        ]
        assert int(line["Results"].value or 0) == len(of_line)
    assert "synthetic data" in read.text


@pytest.mark.deep
def test_commands_below_tables_print_the_same_rows(
    written: Path, run: Run, demo: tuple[Path, Result]
) -> None:
    import shlex

    text = ReportReader(written.read_bytes()).text
    [command] = [
        line.partition("The same: ")[2] for line in text.splitlines()
        if "The same: " in line and "certificate_inventory" in line
    ]  # fmt: skip
    table = ReportReader(written.read_bytes()).tables["certificates"]
    assert len(rows_of(run, demo[0], *shlex.split(command)[1:])) == len(table.rows)


@pytest.mark.deep
def test_filters_narrow_what_they_can(run: Run, zoned_store: Path, tmp_path: Path) -> None:
    options = ["--system", "SYSA", "--from", "2026-03-02T08:00Z", "--to", "2026-03-02T12:00Z"]
    file = tmp_path / "appendix.html"
    result = run("report", "-o", "-", "--appendix", file, "--store", zoned_store, *options)
    assert result.exit_code == 0
    assert "from 2026-03-02 08:00 UTC" in harmless(result.stdout_bytes).text
    read = harmless(file.read_bytes())
    [line] = read.tables["handshakes-by-system"].rows
    [expected] = rows_of(run, zoned_store, "metrics", "handshake_mix", "--by", "system", *options)
    assert (line["System"].text, line["Handshakes"].value) == ("SYSA", str(expected["handshakes"]))
    assert "from 2026-03-02 08:00 UTC before 2026-03-02 12:00 UTC; system SYSA" in read.text
    assert "Not filtered by period: this data has no such column." in read.text
    assert [line["System"].text for line in read.tables["systems"].rows] == ["SYSA"]


def test_an_earlier_file_is_replaced_only_on_success(run: Run, zoned_store: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_text("the earlier one")
    failed = run("report", "-o", target, "--store", zoned_store, "--system", "NONE")
    assert failed.exit_code == 12
    assert "there is no such system" in failed.stderr
    assert target.read_text() == "the earlier one"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("", "exists and is not a file"),
        ("missing/report.html", "does not exist; create it first"),
        ("store/report.html", "inside the store"),
        ("pipe", "exists and is not a file"),
    ],
)
def test_targets_that_cannot_be_written(
    target: str, message: str, run: Run, zoned_store: Path, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    path = zoned_store / "report.html" if target.startswith("store") else tmp_path / target
    result = run("report", "-o", path, "--store", zoned_store)
    assert (result.exit_code, result.stdout) == (12, "")
    assert message in result.stderr


def test_the_appendix_is_another_file(run: Run, zoned_store: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    result = run("report", "-o", target, "--appendix", target, "--store", zoned_store)
    assert result.exit_code == 12
    assert "choose another name for the appendix" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_without_a_store_nothing_is_written(run: Run, tmp_path: Path) -> None:
    result = run("report", "-o", tmp_path / "report.html", "--store", tmp_path / "nowhere")
    assert result.exit_code == 12
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("figure", FIGURES.values(), ids=lambda figure: figure.id)
def test_columns_have_headings_that_differ(figure: FigureDeclaration) -> None:
    headings = [heading(column) for column in figure.columns]
    assert len(set(headings)) == len(headings)


def test_every_label_is_of_a_shown_column() -> None:
    shown = {column for figure in declared_figures().values() for column in figure.columns}
    assert figure_words().headings.keys() <= shown
    assert all(label(column) != text for column, text in figure_words().headings.items())


def test_figures_have_names_of_their_own() -> None:
    ids = [section.id for section in report_sections()] + list(FIGURES)
    assert len(set(ids)) == len(ids)
    assert len(FIGURES) == sum(len(section.figures) for section in report_sections())
