"""Render documents from the code: `python -m zscope.app.docs` writes them, `--check` compares them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zscope.app.cli.main import program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.pipelines.metrics.metric_documents import Picture

CHECKOUT = Path(__file__).resolve().parents[3]
PICTURES = "docs/images/pictures.toml"
"""The list of the pictures of metrics."""
NOTEBOOK = "docs/notebooks/what-tls-costs.ipynb"
WIDTH = 100
"""Width of the help texts, whatever the terminal."""

_MANUAL = """\
# The commands

`make docs` renders this page from the program itself; `zscope COMMAND --help` shows the same.

- **Data goes to standard output, messages go to standard error.** Rows go to standard output, or with `-o`
  to a file, as table, CSV, JSON, JSON lines, Parquet or Arrow stream. Summaries, progress and issues are
  messages.
- **Exit codes** are condition codes of batch jobs: 0 success; 4 success with warnings; 8 an input was refused
  or a check failed; 12 nothing could be done.
- **Values in text formats:** times are in ISO 8601, UTC with a `Z`, local times of a system without; numbers
  have all their digits; bytes are hexadecimal. A missing value is empty in CSV and in the table, and `null`
  in JSON; an empty text is `""` in CSV. The table shows the meaning of codes and rounds numbers,
  unless `--raw` is given.
- **On a terminal** a table shows the columns with the answer first, the first 200 rows (`--all-rows` for
  all), and with `$PAGER` if it is longer than the screen (`--no-pager`). Columns that are alike in all rows
  are stated below the table.
- **Completion:** `eval "$(_ZSCOPE_COMPLETE=bash_source zscope)"` in `~/.bashrc` completes commands, options,
  metrics, tables and columns with TAB. For zsh it is `zsh_source` in `~/.zshrc`; for fish
  `_ZSCOPE_COMPLETE=fish_source zscope | source` in `~/.config/fish/config.fish`.
- **Days** are `2026-03-05`, or with the number of the day in the year `2026.064` or `2026064`. Record types
  are `119(2,11:12),70`, or as in IFASMFDP `TYPE(119(2,11:12),70)`.
- `zscope help COMMAND` is the same as `zscope COMMAND --help`.
"""


def documents() -> dict[str, str]:
    """Return every rendered document by its path in the checkout."""
    from zscope.app.cli.nightly.document import example_settings, settings_document
    from zscope.app.python_reference import python_reference
    from zscope.pipelines.estimate.estimate_document import estimate_document
    from zscope.pipelines.metrics.metric_documents import metrics_documents
    from zscope.schemas.docs import data_dictionary

    return {
        "docs/cli.md": manual(),
        "docs/data-dictionary.md": data_dictionary(),
        **metrics_documents(_pictures()),
        "docs/metrics/estimate.md": estimate_document(),
        "docs/nightly/settings.md": settings_document(),
        "docs/nightly/nightly.toml": example_settings(),
        "docs/notebooks/what-tls-costs.md": _notebook(),
        "docs/python-reference.md": python_reference(),
    }


def _pictures() -> dict[str, Picture]:
    """Return the pictures of metrics that `make pictures` takes."""
    from zscope.pipelines.metrics.metric_documents import Picture

    listed = tomllib.loads((CHECKOUT / PICTURES).read_text(encoding="utf-8"))["metric"]
    return {name: Picture(f"../images/metrics/{name}.png", entry["chart"]) for name, entry in listed.items()}


def _notebook() -> str:
    """Return the text and the code of the notebook as a page."""
    cells = json.loads((CHECKOUT / NOTEBOOK).read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells]
    shown = (
        text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```"
        for cell, text in zip(cells, texts, strict=True)
    )
    name = Path(NOTEBOOK).name
    return (
        "\n\n".join(shown) + f"\n\n`make docs` renders this page from the notebook: [download it]({name}).\n"
    )


def manual() -> str:
    """Return the help texts of the program and of all its commands as one document."""
    return _MANUAL + "".join(f"\n## {title}\n\n```text\n{text}\n```\n" for title, text in _helps())


def _helps() -> Iterator[tuple[str, str]]:
    outer = click.Context(program, info_name="zscope", terminal_width=WIDTH, **program.context_settings)
    yield "zscope", program.get_help(outer)
    for name in program.list_commands(outer):
        command = program.get_command(outer, name)
        assert command is not None
        inner = click.Context(command, parent=outer, info_name=name, terminal_width=WIDTH)
        yield f"zscope {name}", command.get_help(inner)
        if isinstance(command, click.Group):
            for below, subcommand in command.commands.items():
                lowest = click.Context(subcommand, parent=inner, info_name=below, terminal_width=WIDTH)
                yield f"zscope {name} {below}", subcommand.get_help(lowest)


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; fail if a document is out of date.")
@click.option(
    "--root",
    type=click.Path(file_okay=False, path_type=Path),
    default=CHECKOUT,
    help="Folder of the checkout.",
)
def main(*, check: bool, root: Path) -> None:
    """Render the documents of the checkout."""
    if not (root / "pyproject.toml").is_file():
        raise click.ClickException(f"{root} is not a checkout of zscope")
    if not check:
        for path in write_documents(root):
            click.echo(f"{path} written", err=True)
    elif stale := _stale(root):
        raise click.ClickException(f"{', '.join(stale)}: out of date; run make docs")


def write_documents(root: Path = CHECKOUT) -> list[str]:
    """Write the documents that are out of date, and return their paths."""
    stale = _stale(root)
    for path, text in stale.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    return list(stale)


def _stale(root: Path) -> dict[str, str]:
    return {path: text for path, text in documents().items() if _current(root / path) != text.encode()}


def _current(file: Path) -> bytes:
    return file.read_bytes() if file.is_file() else b""


if __name__ == "__main__":
    main()
