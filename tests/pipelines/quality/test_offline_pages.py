"""Pages that load nothing: what is taken out of them, and how they take the place of older ones."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zscope.pipelines.quality import QualityError
from zscope.pipelines.quality.validation_pages import index_page, offline_page, publish_pages
from zscope.pipelines.quality.validation_results import results_table

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "<!DOCTYPE html><html><head><title>Theirs</title>{head}</head><body>{body}</body></html>"
ROW = {
    "run_id": "r", "checked_utc": 0, "load_ids": [1, 2, 5], "whole_loads": True, "table_name": "rmf_cpu",
    "expectation": "rmf_cpu.<x>", "kind": "order", "severity": "failure", "outcome": "failed",
    "success": False, "checked_rows": 10, "slice_rows": 20, "unexpected_rows": 2, "sampled": True,
    "examples": '[{"load_id": 1, "text": "<script>bad()</script>", "none": null}]', "meaning": "A & B.",
}  # fmt: skip


def cleaned(body: str = "", head: str = "") -> str:
    return offline_page(PAGE.format(head=head, body=body), "Ours")


def body_of(page: str) -> str:
    return page.partition("<body>")[2].partition("</body>")[0]


@pytest.mark.parametrize(
    "harmful",
    [
        '<script>fetch("https://far.example")</script>',
        '<script src="//far.example/x.js"></script>',
        '<img src="https://far.example/pixel?who=me">',
        '<img src=x onerror="go()"/>',
        '<iframe src="https://far.example">inside</iframe>',
        '<svg xmlns="http://www.w3.org/2000/svg"><image href="http://far.example"/></svg>',
        '<link rel="stylesheet" href="https://far.example/x.css">',
        '<style>@import "https://far.example/x.css";</style>',
        '<meta http-equiv="refresh" content="0; url=https://far.example">',
        '<footer><a href="https://far.example">news</a></footer>',
        "<!-- https://far.example -->",
        '<form action="https://far.example"><input name="x"></form>',
        '<base href="https://far.example/">',
    ],
)
def test_external_content_is_removed(harmful: str) -> None:
    assert body_of(cleaned(f"a{harmful}b")) == "ab"
    assert "far.example" not in cleaned(head=harmful)


@pytest.mark.parametrize(
    "attribute",
    [
        'href="https://far.example"', 'href="//far.example"', 'href="javascript:go()"',
        'href=" java\nscript:go()"',
        'href="\\\\far.example"', 'onclick="go()"', 'style="background: url(//far.example)"', 'ping="/x"',
        'data-url="https://far.example"', 'srcset="https://far.example"', "HREF='mailto:a@far.example'",
    ],
)  # fmt: skip
def test_external_links_are_removed(attribute: str) -> None:
    assert body_of(cleaned(f"<a {attribute}>x</a>")) == "<a>x</a>"


def test_what_is_harmless_stays() -> None:
    kept = '<a class="x" href="../index.html#part" id="a&amp;b">&lt;b&gt; &#65; &eacute;</a><br>'
    assert body_of(cleaned(kept)) == kept


def test_the_title_and_the_style_are_ours() -> None:
    page = cleaned()
    assert page.count("<title>") == 1
    assert "<title>Ours</title>" in page
    assert "prefers-color-scheme" in page


class Attributes(HTMLParser):
    """All tags and attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}


@given(st.lists(st.sampled_from([*"<>/='\" &;!-x", "<a ", "<script>", "</script>", " onclick=", " src="])))
def test_invalid_html_is_cleaned(rubbish: list[str]) -> None:
    found = Attributes()
    found.feed(cleaned("".join(rubbish)).partition("</style>")[2])
    assert "script" not in found.tags
    assert not {"onclick", "src"} & found.names


def test_data_on_the_first_page_is_text_and_not_markup() -> None:
    page = index_page(results_table([ROW]), {"rmf_cpu": {"validations": "validations/x.html"}})
    assert "<script" not in page
    assert "&lt;script&gt;bad()&lt;/script&gt;" in page
    assert "rmf_cpu.&lt;x&gt;" in page
    assert "A &amp; B." in page
    assert "2 unexpected, 10 rows checked of a sample; the slice has 20" in page
    assert "<dd>1-2, 5</dd>" in page


def raw_pages(folder: Path) -> Path:
    for place in ("index.html", "expectations/rmf_cpu.html", "validations/rmf_cpu/r/t/b.html"):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(PAGE.format(head="", body="x"), encoding="utf-8")
    return folder


def test_pages_of_a_run_replace_those_of_the_one_before(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    for _ in range(2):
        publish_pages(raw_pages(tmp_path / "raw"), docs, results_table([ROW]))
    names = {page.relative_to(docs).as_posix() for page in docs.rglob("*.html")}
    assert names == {"index.html", "expectations/rmf_cpu.html", "validations/rmf_cpu/r/t/b.html"}
    assert "rmf_cpu: expectations" in (docs / "expectations/rmf_cpu.html").read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["docs", "raw"]


def test_folder_with_other_content_is_not_replaced(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(QualityError, match="the folder has other content"):
        publish_pages(raw_pages(tmp_path / "raw"), docs, results_table([ROW]))
    assert [path.name for path in docs.iterdir()] == ["mine.txt"]


def test_write_error_of_pages_is_raised(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(QualityError, match="the pages cannot be written"):
        publish_pages(raw_pages(tmp_path / "raw"), tmp_path / "file" / "docs", results_table([ROW]))
