"""Draw what a command prints on a terminal as an SVG picture: text, aligned, readable light and dark.

Every word has the place of its column, and bars and rules are shapes, so the picture looks the same in every
font.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

COLUMN, LINE = 8.4, 19
"""Width of a character and height of a line, in pixels."""
EDGE = 18
"""Width of the border around the text."""
_PARTS = re.compile(r"(?P<rule>─+)|(?P<most>░+)|(?P<least>█+)|(?P<text>[^\s─░█]+(?: [^\s─░█]+)*)")
_COMMAND = re.compile(r"zscope [a-z]")
_STYLE = """\
svg { --ground: #fbfcfc; --text: #1c2126; --pale: #d3d9dc; --bar: #0a5bc4; --command: #0a5bc4; }
@media (prefers-color-scheme: dark) {
  svg { --ground: #14181b; --text: #e4e9eb; --pale: #3a4247; --bar: #5aa9e6; --command: #7cc0f4; }
}
.ground { fill: var(--ground); stroke: var(--pale); }
text {
  fill: var(--text);
  font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
.heading { font-weight: 600; }
.command { fill: var(--command); }
.rule { stroke: var(--pale); }
.least { fill: var(--bar); }
.most { fill: var(--bar); opacity: 0.4; }"""


def screen_picture(lines: Sequence[str], described: str) -> str:
    """Return a picture of the lines of a screen, with a description for readers who cannot see it."""
    width = round(max(map(len, lines)) * COLUMN + 2 * EDGE)
    height = len(lines) * LINE + 2 * EDGE
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    drawn = [shape for number, line in enumerate(lines) for shape in _line(line, EDGE + number * LINE)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
            f"<title>{escape(described)}</title>",
            f"<style>\n{_STYLE}\n</style>",
            f'<rect class="ground" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>',
            *drawn,
            "</svg>\n",
        ]
    )


def _line(line: str, top: int) -> Iterator[str]:
    """Draw the words, bars and rules of a line."""
    heading = line.startswith("─")
    for part in _PARTS.finditer(line):
        left = round(EDGE + part.start() * COLUMN, 1)
        length = round(len(part[0]) * COLUMN, 1)
        if part.lastgroup == "rule":
            middle = top + LINE / 2
            yield f'<path class="rule" d="M{left} {middle}h{length}"/>'
        elif part.lastgroup != "text":
            yield f'<rect class="{part.lastgroup}" x="{left}" y="{top + 4}" width="{length}" height="11"/>'
        else:
            style = "command" if _COMMAND.match(part[0]) else "heading" if heading else ""
            named = f' class="{style}"' if style else ""
            yield (
                f'<text{named} x="{left}" y="{top + 14}" textLength="{length}" '
                f'lengthAdjust="spacingAndGlyphs">{escape(part[0])}</text>'
            )
