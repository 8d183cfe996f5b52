"""Render documents from the code.

`python -m zscope.app.docs` writes the rendered files that are under version control. `--check` compares them
and renders everything else. `--site FOLDER` writes the pages of the site: those of `docs/`, and rendered ones
below `reference/`.
"""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zscope.app.cli.help_texts import help_texts
from zscope.app.cli.main import program
from zscope.app.screen_picture import screen_picture

if TYPE_CHECKING:
    from zscope.pipelines.metrics.metric_documents import Picture

CHECKOUT = Path(__file__).resolve().parents[3]
PICTURES = "docs/images/pictures.toml"
"""The list of the pictures of metrics."""
NOTEBOOK = "docs/notebooks/what-tls-costs.ipynb"
SCREEN = "tests/golden/screens/answers.txt"
"""What `zscope demo` and `zscope summary` print of the sample data, in several widths."""
DESCRIBED = "zscope demo on a terminal, with synthetic data: cost, payers, changes, protection, certificates"
WIDTH = 100
"""Width of the help texts, whatever the terminal."""

_MANUAL = """\
# The commands

This page is rendered from the program itself; `zscope COMMAND --help` shows the same.

- **Data goes to standard output, messages go to standard error.** Rows go to standard output, or with `-o`
  to a file, as table, CSV, JSON, JSON lines, Parquet or Arrow stream. Summaries, progress and issues are
  messages.
- **Exit codes** are condition codes of batch jobs: 0 success; 4 success with warnings; 8 an input was refused
  or a check failed; 12 nothing could be done.
- **Values in text formats:** times are in ISO 8601, UTC with a `Z`, local times of a system without; numbers
  have all their digits; bytes are hexadecimal. A missing value is empty in CSV and in the table, and `null`
  in JSON; an empty text is `""` in CSV. The table shows the meaning of codes and rounds numbers,
  unless `--raw` is given.
- **On a terminal** a table shows the columns with the answer first, with their units and the reasons below
  (`--all-columns` for all columns, under their names), the first 200 rows (`--all-rows` for all), and with
  `$PAGER` if it is longer than the screen (`--no-pager`).
- **Completion:** `zscope completion bash --install` (or `zsh`, `fish`) lets the shell complete commands,
  options, metrics, tables and columns with TAB. `zscope man --install` lets `man zscope` show this page.
- **Days** are `2026-03-05`, or with the number of the day in the year `2026.064` or `2026064`. Record types
  are `119(2,11:12),70`, or as in IFASMFDP `TYPE(119(2,11:12),70)`.
- `zscope help COMMAND` is the same as `zscope COMMAND --help`.
"""


def files() -> dict[str, str]:
    """Return every rendered file under version control by its path in the checkout."""
    from zscope.app.cli.nightly.document import example_settings

    return {
        "docs/nightly/nightly.toml": example_settings(),
        "docs/images/answers.svg": screen_picture(demo_screen(), DESCRIBED),
    }


def demo_screen(columns: int = 100) -> list[str]:
    """Return the lines that `zscope demo` prints of its answers, on a terminal with so many columns."""
    screens = (CHECKOUT / SCREEN).read_text(encoding="utf-8")
    begin = f"$ zscope summary  # {columns} columns\n"
    return screens.partition(begin)[2].partition("\n\n$ ")[0].rstrip().splitlines()


def pages() -> dict[str, str]:
    """Return every rendered page by its path in the site."""
    from zscope.app.cli.nightly.document import settings_document
    from zscope.app.python_reference import python_reference
    from zscope.pipelines.estimate.estimate_document import estimate_document
    from zscope.pipelines.metrics.metric_documents import metrics_documents
    from zscope.schemas.docs import data_dictionary

    rendered = {
        "commands.md": manual(),
        "data-dictionary.md": data_dictionary(),
        **metrics_documents(_pictures()),
        "metrics/estimate.md": estimate_document(),
        "settings.md": settings_document(),
        "notebook.md": _notebook(),
        "python.md": python_reference(),
    }
    return {f"reference/{path}": text for path, text in rendered.items()}


def write_site(folder: Path) -> None:
    """Write the pages of the site into a new folder: `docs/` with its pictures, and the rendered pages."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(CHECKOUT / "docs", folder)
    for path, text in pages().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())


def _pictures() -> dict[str, Picture]:
    """Return the pictures of metrics that `make pictures` takes."""
    from zscope.pipelines.metrics.metric_documents import Picture

    listed = tomllib.loads((CHECKOUT / PICTURES).read_text(encoding="utf-8"))["metric"]
    return {
        name: Picture(f"../../images/metrics/{name}.png", entry["chart"]) for name, entry in listed.items()
    }


def _notebook() -> str:
    """Return the text and the code of the notebook as a page."""
    cells = json.loads((CHECKOUT / NOTEBOOK).read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells]
    shown = (
        text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```"
        for cell, text in zip(cells, texts, strict=True)
    )
    link = f"../{NOTEBOOK.removeprefix('docs/')}"
    return "\n\n".join(shown) + f"\n\nThis page is rendered from the notebook: [download it]({link}).\n"


def manual() -> str:
    """Return the help texts of the program and of all its commands as one document."""
    return _MANUAL + "".join(
        f"\n## {title}\n\n```text\n{text}\n```\n" for title, text in help_texts(program, WIDTH)
    )


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; fail if a file is out of date or a page fails.")
@click.option(
    "--site",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the pages of the site into FOLDER.",
)
@click.option(
    "--root",
    type=click.Path(file_okay=False, path_type=Path),
    default=CHECKOUT,
    help="Folder of the checkout.",
)
def main(*, check: bool, site: Path | None, root: Path) -> None:
    """Render the documents of the checkout."""
    if not (root / "pyproject.toml").is_file():
        raise click.ClickException(f"{root} is not a checkout of zscope")
    if site:
        write_site(site)
        return
    stale = {path: text for path, text in files().items() if _current(root / path) != text.encode()}
    if check:
        pages()
        if stale:
            raise click.ClickException(f"{', '.join(stale)}: out of date; run make docs")
        return
    for path, text in stale.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
        click.echo(f"{path} written", err=True)


def _current(file: Path) -> bytes:
    return file.read_bytes() if file.is_file() else b""


if __name__ == "__main__":
    main()
