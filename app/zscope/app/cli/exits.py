"""Exit codes and messages: a plain one for every error that input, options or the system can cause."""

from __future__ import annotations

import atexit
import io
import os
import sys
import threading
import traceback
from contextlib import suppress
from enum import IntEnum
from typing import TYPE_CHECKING, NoReturn

import click

if TYPE_CHECKING:
    from collections.abc import Callable


class ExitCode(IntEnum):
    """Condition codes as batch schedulers on z/OS know them: the higher, the worse."""

    OK = 0
    WARNINGS = 4
    """The work is done, and issues were recorded."""
    REFUSED = 8
    """At least one input was refused, or a check failed."""
    NOTHING = 12
    """Nothing could be done: wrong arguments, unusable store or output, interrupted."""


_INTERRUPTED = "interrupted; output files are unchanged"


class NothingDoneError(click.ClickException):
    """The command could not do anything; the message gives the reason and what to do."""

    exit_code = ExitCode.NOTHING


class RefusedError(click.ClickException):
    """An input cannot be used; the message gives the reason."""

    exit_code = ExitCode.REFUSED


def print_message(text: str) -> None:
    """Print a message for people, on standard error."""
    click.echo(text, err=True)


def exit_code_of(program: Callable[[], object]) -> int:
    """Run a click program and return its exit code; errors that a user can cause print no traceback."""
    try:
        result = program()
        sys.stdout.flush()
        code = result if isinstance(result, int) else ExitCode.OK
    except click.ClickException as error:
        message = io.StringIO()
        error.show(message)
        click.echo(plain(message.getvalue()), err=True, nl=False)
        code = ExitCode.NOTHING if isinstance(error, click.UsageError) else error.exit_code
    except click.Abort:
        code = _failed(_INTERRUPTED)
    except (BrokenPipeError, SystemExit):
        # No command raises SystemExit: click does when the reader of its help text closes the pipe.
        # As in `zscope fields | head`, this is no error.
        _discard_output()
        code = ExitCode.OK
    except OSError as error:
        code = _failed(describe(error))
    except MemoryError:
        code = _failed("not enough memory; choose fewer columns or use fewer --jobs")
    except Exception as error:  # noqa: BLE001 - Python would exit with 1, which schedulers take for success
        if isinstance(error.__cause__, KeyboardInterrupt):  # as DuckDB reports it
            code = _failed(_INTERRUPTED)
        else:
            traceback.print_exc()
            code = _failed("this is a defect in zscope; please report it with the lines above")
    return code


def leave(stop: SystemExit) -> NoReturn:
    """End the process with the exit code of a program that is over.

    Python would first free everything in memory, object by object: a sixth of the time of a short command.
    What is registered for the end of a process runs as always, for example the deletion of temporary folders.
    Python ends as usual if other threads are still working, if the program is observed by a debugger or
    profiler, if output cannot be written, or if the program ends with a message instead of a code.
    """
    observed = sys.getprofile() or sys.gettrace()
    if threading.active_count() > 1 or observed or not isinstance(stop.code, int):
        raise stop
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        raise stop from None
    os._exit(stop.code)


def describe(error: OSError) -> str:
    """Return the reason of the operating system and the name of the file."""
    reason = error.strerror or str(error) or type(error).__name__
    return f"{os.fsdecode(error.filename)}: {reason}" if error.filename else reason


def plain(message: str) -> str:
    """Return a message without control characters, which a terminal would execute; line ends remain.

    >>> plain("no table \\x1b[31mX").encode()
    b'no table \\\\x1b[31mX'
    """
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in message
    )


def _failed(message: str) -> int:
    _discard_output()
    click.echo(f"Error: {plain(message)}", err=True)
    return ExitCode.NOTHING


def _discard_output() -> None:
    """Keep Python from writing unwritten output again while it exits."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError):  # a stream without a file cannot be redirected
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
