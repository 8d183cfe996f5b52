"""Makes a page safe to open anywhere: it loads nothing, runs nothing and leads nowhere else.

The pages of great_expectations fetch styles and programs from servers on the internet, and a picture whose
address tells who looks at which project. Nothing of that is kept: of tags and attributes only those stay
that are known to be harmless, and a policy in the page forbids the browser to load anything at all.
"""

from __future__ import annotations

from functools import cache
from html import escape
from html.parser import HTMLParser
from importlib.resources import files

_WITHOUT_CONTENT = frozenset(
    {"link", "img", "input", "embed", "source", "track", "base", "meta", "param", "wbr"}
)
_WITH_CONTENT = frozenset(
    {"script", "style", "title", "iframe", "object", "noscript", "template", "svg", "math", "video", "audio",
     "picture", "canvas", "form", "label", "button", "select", "textarea", "footer"}
)  # fmt: skip
_ATTRIBUTES = frozenset({"id", "class", "href", "hidden", "colspan", "rowspan", "title", "role"})
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@cache
def style() -> str:
    """Our own style sheet, small enough to stand in every page."""
    return (files(__package__) / "style.css").read_text(encoding="utf-8").strip()


def head(title: str) -> str:
    """What stands in the head of every page."""
    return (
        '<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style()}\n</style>\n"
    )


def made_offline(page: str, title: str) -> str:
    """The page with nothing in it that needs or tells another machine.

    >>> page = '<html><head></head><body onload="x()"><a href="https://far.example/">far</a></body></html>'
    >>> made_offline(page, "Page").partition("</head>")[2]
    '<body><a>far</a></body></html>'
    """
    cleaner = _Cleaner(title)
    cleaner.feed(page)
    cleaner.close()
    return "".join(cleaner.kept)


class _Cleaner(HTMLParser):
    def __init__(self, title: str) -> None:
        super().__init__(convert_charrefs=False)
        self.kept: list[str] = []
        self._title = title
        self._dropping: list[str] = []
        """Elements we are in of which nothing is kept."""

    def _keep(self, text: str) -> None:
        if not self._dropping:
            self.kept.append(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _WITHOUT_CONTENT:
            return
        if tag in _WITH_CONTENT:
            self._dropping.append(tag)
            return
        self._keep(f"<{tag}{''.join(_attribute(name, value) for name, value in attrs)}>")
        if tag == "head":
            self._keep(f"\n{head(self._title)}")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _WITHOUT_CONTENT | _WITH_CONTENT:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag in _WITH_CONTENT:
            if tag in self._dropping:
                while self._dropping.pop() != tag:
                    pass
        elif tag not in _WITHOUT_CONTENT:
            self._keep(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self._keep(data)

    def handle_entityref(self, name: str) -> None:
        self._keep(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self._keep(f"&#{name};")

    def handle_decl(self, decl: str) -> None:
        self._keep(f"<!{decl}>")


def _attribute(name: str, value: str | None) -> str:
    if name not in _ATTRIBUTES and not name.startswith("aria-"):
        return ""
    if value is None:
        return f" {name}"
    if name == "href" and not _is_own(value):
        return ""
    return f' {name}="{escape(value)}"'


def _is_own(address: str) -> bool:
    """Whether a link leads to a page beside this one; browsers overlook blanks and controls in an address."""
    plain = "".join(c for c in address if c > " ")
    return ":" not in plain and "\\" not in plain and not plain.startswith("//")
