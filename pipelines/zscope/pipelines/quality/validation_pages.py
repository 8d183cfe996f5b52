"""Write the HTML pages of a validation run, which replace those of the previous run.

The pages of Great Expectations load styles and scripts from the internet, and an image whose URL identifies
the user and project. Only tags and attributes that are known to be harmless are copied, and a policy in each
page forbids the browser to load anything.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html import escape
from html.parser import HTMLParser
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from zscope.pipelines.quality.quality_checks import CheckSeverity, QualityError
from zscope.pipelines.quality.validation_results import CheckOutcome
from zscope.pipelines.quantities import counted

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa


_DROPPED_VOID = frozenset(
    {"link", "img", "input", "embed", "source", "track", "base", "meta", "param", "wbr"}
)
_DROPPED = frozenset(
    {"script", "style", "title", "iframe", "object", "noscript", "template", "svg", "math", "video", "audio",
     "picture", "canvas", "form", "label", "button", "select", "textarea", "footer"}
)  # fmt: skip
_ATTRIBUTES = frozenset({"id", "class", "href", "hidden", "colspan", "rowspan", "title", "role"})
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@cache
def style() -> str:
    """Return the style sheet, which is included in every page."""
    return (files(__package__) / "style.css").read_text(encoding="utf-8").strip()


def head(title: str) -> str:
    """Return the content of the head of every page."""
    return (
        '<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style()}\n</style>\n"
    )


def offline_page(page: str, title: str) -> str:
    """Return a page without anything that accesses another machine.

    >>> page = '<html><head></head><body onload="x()"><a href="https://far.example/">far</a></body></html>'
    >>> offline_page(page, "Page").partition("</head>")[2]
    '<body><a>far</a></body></html>'
    """
    cleaner = _Cleaner(title)
    cleaner.feed(page)
    cleaner.close()
    return "".join(cleaner.parts)


class _Cleaner(HTMLParser):
    def __init__(self, title: str) -> None:
        super().__init__(convert_charrefs=False)
        self.parts: list[str] = []
        self._title = title
        self._dropped_elements: list[str] = []
        """Open elements whose content is dropped."""

    def _append(self, text: str) -> None:
        if not self._dropped_elements:
            self.parts.append(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _DROPPED_VOID:
            return
        if tag in _DROPPED:
            self._dropped_elements.append(tag)
            return
        self._append(f"<{tag}{''.join(_attribute(name, value) for name, value in attrs)}>")
        if tag == "head":
            self._append(f"\n{head(self._title)}")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _DROPPED_VOID | _DROPPED:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag in _DROPPED:
            if tag in self._dropped_elements:
                while self._dropped_elements.pop() != tag:
                    pass
        elif tag not in _DROPPED_VOID:
            self._append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self._append(data)

    def handle_entityref(self, name: str) -> None:
        self._append(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self._append(f"&#{name};")

    def handle_decl(self, decl: str) -> None:
        self._append(f"<!{decl}>")


def _attribute(name: str, value: str | None) -> str:
    if name not in _ATTRIBUTES and not name.startswith("aria-"):
        return ""
    if value is None:
        return f" {name}"
    if name == "href" and not _is_relative(value):
        return ""
    return f' {name}="{escape(value)}"'


def _is_relative(address: str) -> bool:
    """Whether a link is relative; browsers ignore blanks and control characters in URLs."""
    plain = "".join(c for c in address if c > " ")
    return ":" not in plain and "\\" not in plain and not plain.startswith("//")


TITLE = "Data validation"
_ORDER = [CheckOutcome.ERROR.value, *(severity.value for severity in CheckSeverity)]
_Row = Mapping[str, Any]


def index_page(results: pa.Table, pages: Mapping[str, Mapping[str, str]]) -> str:
    """Return the first page: the summary, all findings with examples, and the tables with links to their
    pages.
    """
    rows: list[_Row] = results.to_pylist()
    findings = sorted(
        (row for row in rows if row["outcome"] != CheckOutcome.PASSED),
        key=lambda row: _ORDER.index(_severity(row)),
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


def _severity(row: _Row) -> str:
    return str(row["outcome"] if row["outcome"] == CheckOutcome.ERROR else row["severity"])


def _summary(rows: Sequence[_Row], findings: Sequence[_Row]) -> str:
    first = rows[0]
    counts = Counter(_severity(row) for row in findings)
    each = ", ".join(counted(counts[name], name) for name in _ORDER if counts[name])
    passed = f"{len(rows) - len(findings):,} of {len(rows):,} expectations are met"
    days = [str(day) for day in (first["first_day"] or "...", first["last_day"] or "...")]
    facts = {
        "Run": first["run_id"],
        "Checked": f"{first['checked_utc']:%Y-%m-%d %H:%M:%S} UTC",
        "Loads": _ranges(first["load_ids"]) + ("" if first["whole_loads"] else " (partly)"),
        "System": first["slice_system"],
        "Days": " to ".join(days) if days != ["...", "..."] else None,
    }
    listed = "".join(f"<dt>{name}</dt><dd>{escape(str(fact))}</dd>" for name, fact in facts.items() if fact)
    style_class = "bad" if counts[_ORDER[0]] or counts[_ORDER[1]] else "care" if counts[_ORDER[2]] else "good"
    details = f": {each}" if each else ""
    return f'<p class="{style_class}"><strong>{passed}</strong>{details}</p>\n<dl>{listed}</dl>'


def _ranges(numbers: Sequence[int]) -> str:
    """Return numbers as a text, with ranges of consecutive numbers.

    >>> _ranges([1, 2, 3, 5, 8, 9])
    '1-3, 5, 8-9'
    """
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][-1] + 1 == number:
            ranges[-1][1:] = [number]
        else:
            ranges.append([number])
    return ", ".join("-".join(map(str, ends)) for ends in ranges)


def _finding(row: _Row) -> str:
    severity = _severity(row)
    sample = f" of a sample; the slice has {row['slice_rows']:,}" if row["sampled"] else ""
    if row["error"] is not None:
        text = f"<p>Could not be checked: {escape(row['error'])}</p>"
    else:
        text = f"<p>{row['unexpected_rows']:,} unexpected, {row['checked_rows']:,} rows checked{sample}.</p>"
    return (
        f'<section class="finding {severity}"><h3><span class="word">{severity}</span> '
        f"{escape(row['expectation'])}</h3>\n<p>{escape(row['meaning'])}</p>\n{text}\n"
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
    counts = Counter(_severity(row) for row in rows if row["outcome"] != CheckOutcome.PASSED)
    least = min((row["checked_rows"] for row in rows if row["outcome"] != CheckOutcome.ERROR), default=0)
    figures = [f"{rows[0]['slice_rows']:,}", f"{least:,}", f"{len(rows):,}"]
    figures += [f"{counts[name]:,}" if counts[name] else "" for name in _ORDER]
    cells = "".join(f'<td class="number">{figure}</td>' for figure in figures)
    links = ", ".join(f'<a href="{escape(to)}">{escape(text)}</a>' for text, to in pages.items())
    return f"<tr><td>{escape(name)}</td>{cells}<td>{links}</td></tr>\n"


INDEX = "index.html"
_MARK = ".zscope-data-docs"
"""Marks folders created by zscope; other folders are never replaced."""


def refuse_other(docs: Path) -> None:
    """Raise QualityError if the folder has other content, which would be deleted."""
    if docs.exists() and not (docs / _MARK).exists() and not _is_empty(docs):
        raise QualityError(f"{docs}: the folder has other content; move it, or name another folder")


def publish_pages(raw: Path, docs: Path, results: pa.Table) -> None:
    """Clean the pages of Great Expectations, add the first page, and replace the folder with the pages."""
    refuse_other(docs)
    new = docs.with_name(f".{docs.name}.{os.getpid()}")
    try:
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        (new / _MARK).touch()
        pages = _clean(raw, new)
        (new / INDEX).write_text(index_page(results, pages), encoding="utf-8")
        _replace(docs, new)
    except OSError as error:
        raise QualityError(f"{docs}: the pages cannot be written ({error.strerror or error})") from error
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())


def _clean(raw: Path, target: Path) -> dict[str, dict[str, str]]:
    """Copy the cleaned pages; return their paths by table and kind of page."""
    pages: dict[str, dict[str, str]] = {}
    for page in sorted(raw.rglob("*.html")):
        path = page.relative_to(raw)
        kind, table = path.parts[0], path.with_suffix("").parts[-1] if len(path.parts) == 2 else ""
        if page.name == INDEX and len(path.parts) == 1:
            continue  # shows nothing without scripts from the internet
        if kind == "validations":
            table = path.parts[1]
        clean = offline_page(page.read_text(encoding="utf-8"), f"{table}: {kind} - {TITLE} - zscope")
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_text(clean, encoding="utf-8")
        pages.setdefault(table, {})[kind] = path.as_posix()
    return pages


def _replace(docs: Path, new: Path) -> None:
    """Replace a folder, which is missing for a moment as it cannot be renamed over another."""
    old = docs.with_name(f".{docs.name}.old.{os.getpid()}")
    if docs.exists():
        docs.rename(old)
    new.rename(docs)
    shutil.rmtree(old, ignore_errors=True)
