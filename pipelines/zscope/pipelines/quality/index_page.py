"""The first page: how the run ended, every finding with its evidence, and the tables with their pages."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from zscope.pipelines.quality.checks import Severity
from zscope.pipelines.quality.offline import head
from zscope.pipelines.quality.results import Outcome

if TYPE_CHECKING:
    import pyarrow as pa

TITLE = "Data validation"
_ORDER = [Outcome.ERROR.value, *(severity.value for severity in Severity)]
_Row = Mapping[str, Any]


def index_page(results: pa.Table, pages: Mapping[str, Mapping[str, str]]) -> str:
    """The page, with links to the pages of each table by their names."""
    rows: list[_Row] = results.to_pylist()
    findings = sorted(
        (row for row in rows if row["outcome"] != Outcome.PASSED), key=lambda row: _ORDER.index(_gravity(row))
    )
    parts = [
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head(f"{TITLE} - zscope")}</head>',
        f"<body>\n<h1>{TITLE}</h1>",
        _summary(rows, findings),
        *(_finding(row) for row in findings),
        "<h2>Tables</h2>",
        _tables(rows, pages),
        "</body>\n</html>\n",
    ]
    return "\n".join(parts)


def _gravity(row: _Row) -> str:
    return str(row["outcome"] if row["outcome"] == Outcome.ERROR else row["severity"])


def _summary(rows: Sequence[_Row], findings: Sequence[_Row]) -> str:
    first = rows[0]
    counts = Counter(_gravity(row) for row in findings)
    told = ", ".join(_number(counts[gravity], gravity) for gravity in _ORDER if counts[gravity])
    held = f"{len(rows) - len(findings):,} of {len(rows):,} expectations hold"
    days = [str(day) for day in (first["first_day"] or "...", first["last_day"] or "...")]
    facts = {
        "Run": first["run_id"],
        "Checked": f"{first['checked_utc']:%Y-%m-%d %H:%M:%S} UTC",
        "Loads": _ranges(first["load_ids"]) + ("" if first["whole_loads"] else " (a part of them)"),
        "System": first["slice_system"],
        "Days": " to ".join(days) if days != ["...", "..."] else None,
    }
    listed = "".join(f"<dt>{name}</dt><dd>{escape(str(fact))}</dd>" for name, fact in facts.items() if fact)
    mood = "bad" if counts[_ORDER[0]] or counts[_ORDER[1]] else "care" if counts[_ORDER[2]] else "good"
    return f'<p class="{mood}"><strong>{held}</strong>{f": {told}" if told else ""}</p>\n<dl>{listed}</dl>'


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _ranges(numbers: Sequence[int]) -> str:
    """Numbers with runs of them put together.

    >>> _ranges([1, 2, 3, 5, 8, 9])
    '1-3, 5, 8-9'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] + 1 == number:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ", ".join("-".join(map(str, run)) for run in runs)


def _finding(row: _Row) -> str:
    gravity = _gravity(row)
    sample = f" of a sample; the slice has {row['slice_rows']:,}" if row["sampled"] else ""
    if row["error"] is not None:
        told = f"<p>Could not be checked: {escape(row['error'])}</p>"
    else:
        told = f"<p>{row['unexpected_rows']:,} unexpected, {row['checked_rows']:,} rows checked{sample}.</p>"
    return (
        f'<section class="finding {gravity}"><h3><span class="word">{gravity}</span> '
        f"{escape(row['expectation'])}</h3>\n<p>{escape(row['meaning'])}</p>\n{told}\n"
        f"{_examples(row['examples'])}</section>"
    )


def _examples(examples: str | None) -> str:
    rows: list[dict[str, object]] = json.loads(examples) if examples else []
    if not rows:
        return ""
    names = "".join(f"<th>{escape(name)}</th>" for name in rows[0])
    lines = "".join(f"<tr>{''.join(_cells(row.values()))}</tr>" for row in rows)
    return f'<div class="scroll"><table class="examples"><tr>{names}</tr>{lines}</table></div>'


def _cells(values: Iterator[object] | Any) -> Iterator[str]:  # noqa: ANN401 - any collection
    for value in values:
        yield f"<td>{'' if value is None else escape(str(value))}</td>"


def _tables(rows: Sequence[_Row], pages: Mapping[str, Mapping[str, str]]) -> str:
    by_table: defaultdict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        by_table[row["table_name"]].append(row)
    names = ("table", "rows", "checked", "expectations", *_ORDER, "pages")
    heads = "".join(
        f'<th class="{"" if name in {"table", "pages"} else "number"}">{name}</th>' for name in names
    )
    lines = [_table(name, of_table, pages.get(name, {})) for name, of_table in sorted(by_table.items())]
    return f'<div class="scroll"><table><tr>{heads}</tr>\n{"".join(lines)}</table></div>'


def _table(name: str, rows: Sequence[_Row], pages: Mapping[str, str]) -> str:
    counts = Counter(_gravity(row) for row in rows if row["outcome"] != Outcome.PASSED)
    least = min((row["checked_rows"] for row in rows if row["outcome"] != Outcome.ERROR), default=0)
    figures = [f"{rows[0]['slice_rows']:,}", f"{least:,}", f"{len(rows):,}"]
    figures += [f"{counts[gravity]:,}" if counts[gravity] else "" for gravity in _ORDER]
    cells = "".join(f'<td class="number">{figure}</td>' for figure in figures)
    links = ", ".join(f'<a href="{escape(to)}">{escape(text)}</a>' for text, to in pages.items())
    return f"<tr><td>{escape(name)}</td>{cells}<td>{links}</td></tr>\n"
