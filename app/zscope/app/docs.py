"""The rendered documents: `python -m zscope.app.docs` writes them, with `--check` it only compares."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from zscope.app.cli import program

CHECKOUT = Path(__file__).resolve().parents[3]
WIDTH = 100
"""Help is as wide as this whatever the terminal."""

_MANUAL = """\
# The commands

`make docs` renders this page from the program itself; `zscope COMMAND --help` shows the same.

- **Standard output is data, standard error is talk.** Rows go to standard output or with `-o` to a file, as
  table, CSV, JSON, JSON lines, Parquet or Arrow stream. Summaries, progress and issues go to standard error.
- **Exit codes** are condition codes of batch jobs: 0 all well; 4 done, with warnings; 8 an input was refused
  or a check failed; 12 nothing could be done.
- **Values in text formats:** times in ISO 8601, those known in UTC with a `Z`, local times of a system
  without; numbers with all their digits; bytes as hexadecimal digits. A missing value is empty in CSV and in
  the table and `null` in JSON; in CSV an empty text is `""`. In the table codes show their meaning, and
  numbers no more digits than people read, unless `--raw` is given.
"""


def documents() -> dict[str, str]:
    """Every rendered document by its path in the checkout."""
    from zscope.pipelines.metrics.document import metrics_document
    from zscope.schemas.docs import data_dictionary

    return {
        "docs/cli.md": manual(),
        "docs/data-dictionary.md": data_dictionary(),
        "docs/metrics.md": metrics_document(),
    }


def manual() -> str:
    """The help of the program and of all its commands."""
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
@click.option("--check", is_flag=True, help="Write nothing; fail if a document is not what would be written.")
@click.option(
    "--root", type=click.Path(file_okay=False, path_type=Path), default=CHECKOUT, help="Another checkout."
)
def main(*, check: bool, root: Path) -> None:
    """Render the documents of the checkout."""
    if not (root / "pyproject.toml").is_file():
        raise click.ClickException(f"{root} is no checkout of zscope: the documents live only there")
    stale = [path for path, text in documents().items() if _current(root / path) != text.encode()]
    if not check:
        for path in stale:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(documents()[path].encode())
            click.echo(f"{path} written", err=True)
    elif stale:
        raise click.ClickException(f"{', '.join(stale)}: not what the code says; repair with: make docs")


def _current(file: Path) -> bytes:
    return file.read_bytes() if file.is_file() else b""


if __name__ == "__main__":
    main()
