"""Print or install the manual page: the help texts of all commands."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path

import click

from zscope.app.cli.help_texts import help_texts

_WIDTH = 72
"""Width of the texts: `man` indents them in a terminal of 80 columns."""
_PLACE = "man/man1/zscope.1"
_MEANING = "what TLS costs on IBM Z, from data that the systems already write"


@click.command()
@click.option("--install", is_flag=True, help="Write the page to the user's folder for manual pages.")
@click.pass_context
def command(context: click.Context, *, install: bool) -> None:
    """Print or install the manual page.

    The page has the help of the program and of all commands. With --install, it is written to
    ~/.local/share/man, or to the folder of XDG_DATA_HOME, where "man zscope" finds it.

    \b
    Examples:
      zscope man --install
      zscope man | man -l -
    """
    program = context.find_root().command
    assert isinstance(program, click.Group), "the program is a group of commands"
    page = manual_page(program)
    if not install:
        click.echo(page, nl=False)
        return
    path = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / _PLACE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    click.echo(f"written: {path}", err=True)


def manual_page(program: click.Group) -> str:
    """Return the help texts of a program as a manual page, in the macros of `man`."""
    lines = [f'.TH ZSCOPE 1 "" "zscope {version("zscope")}"', ".SH NAME", rf"zscope \- {_MEANING}"]
    for title, text in help_texts(program, _WIDTH):
        lines += [f'.SH "{title.upper()}"', ".nf", *map(_as_roff, text.splitlines()), ".fi"]
    return "\n".join(lines) + "\n"


def _as_roff(line: str) -> str:
    r"""Return a line of text as it is written in a manual page.

    >>> _as_roff("  --install  in C:\\man"), _as_roff(".tables"), _as_roff("")
    ('  \\-\\-install  in C:\\eman', '\\&.tables', '\\&')
    """
    escaped = line.replace("\\", r"\e").replace("-", r"\-")
    return escaped if escaped[:1] not in {"", ".", "'"} else rf"\&{escaped}"
