"""Where the prompt's lines come from: a terminal with editing and history, or a pipe."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

import click

HISTORY_LINES = 2_000
_BETWEEN_WORDS = " \t\n\"'()[]{},;=<>+-*/%!:|"
"""No dot: `table.column` is completed as one word."""

Complete = Callable[[str, str], list[str]]


class Lines(Protocol):
    """Something to read lines from."""

    def read(self, prompt: str, before: str) -> str | None:
        """The next line, nothing at the end; `before` are the lines of the same statement."""


class _Piped:
    """Lines of standard input as they are; a person who redirects the output sees prompts all the same."""

    def read(self, prompt: str, before: str) -> str | None:  # noqa: ARG002 - for completion only
        if sys.stdin.isatty():
            click.echo(prompt, err=True, nl=False)
        line = sys.stdin.readline()
        return line.rstrip("\n") if line else None


class _Typed:
    """Lines that a person types."""

    def __init__(self, complete: Complete) -> None:
        self._complete = complete
        self._before = ""
        self._offered: list[str] = []

    def read(self, prompt: str, before: str) -> str | None:
        self._before = before
        try:
            return input(prompt)
        except EOFError:
            click.echo()
            return None

    def offer(self, word: str, number: int) -> str | None:
        """What readline asks for: one completion after the other, then nothing."""
        import readline

        if number == 0:
            line = readline.get_line_buffer()[: readline.get_endidx()]
            self._offered = self._complete(self._before + line, word)
        return self._offered[number] if number < len(self._offered) else None


@contextmanager
def lines_of_user(complete: Complete) -> Iterator[Lines]:
    """Editing, completion and history where there is a terminal to show them on, else plain lines."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        yield _Piped()
        return
    typed = _Typed(complete)
    if importlib.util.find_spec("readline") is None:  # Python can be built without it
        yield typed
        return
    import readline

    # macOS has another library behind the same name, which wants to be told in its own words.
    other = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if other else "tab: complete")
    readline.set_completer_delims(_BETWEEN_WORDS)
    readline.set_completer(typed.offer)
    history = history_file()
    with suppress(OSError):  # none yet, or not ours to read: the prompt works without
        readline.read_history_file(history)
    try:
        yield typed
    finally:
        readline.set_completer(None)
        readline.set_history_length(HISTORY_LINES)
        with suppress(OSError):  # no home, or no place to write: there is no history then
            history.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            readline.write_history_file(history)


def history_file() -> Path:
    """Where the lines that were typed are kept, as the XDG base directories have it."""
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(os.path.expanduser(state)) / "zscope" / "sql_history"  # noqa: PTH111 - no error without a home
