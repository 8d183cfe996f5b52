"""How a run ends: the exit codes, and a plain message for everything that goes wrong from outside."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from enum import IntEnum

import click


class ExitCode(IntEnum):
    """What batch schedulers on z/OS expect: a condition code that grows with the trouble."""

    OK = 0
    WARNINGS = 4
    """Done, and issues were recorded."""
    REFUSED = 8
    """At least one input was refused, or a check failed."""
    NOTHING = 12
    """Nothing could be done: wrong arguments, unusable store or output, interrupted."""


_INTERRUPTED = "interrupted; output files are as they were before"


class NothingDoneError(click.ClickException):
    """The command could not do anything; the message says why and what to do."""

    exit_code = ExitCode.NOTHING


class RefusedError(click.ClickException):
    """An input cannot be used as the user demands; the message says why."""

    exit_code = ExitCode.REFUSED


def exit_code_of(program: Callable[[], object]) -> int:
    """Run a click program and say what became of it; what a user can cause never ends in a traceback."""
    try:
        result = program()
        sys.stdout.flush()
        code = result if isinstance(result, int) else ExitCode.OK
    except click.ClickException as error:
        error.show()
        code = ExitCode.NOTHING if isinstance(error, click.UsageError) else error.exit_code
    except click.Abort:
        code = _failed(_INTERRUPTED)
    except (BrokenPipeError, SystemExit):
        # No command raises SystemExit: it is how click ends when the reader of its own help has gone.
        code = _reader_left()
    except OSError as error:
        code = _failed(describe(error))
    except MemoryError:
        code = _failed("not enough memory; choose fewer columns or use fewer --jobs")
    except Exception as error:  # noqa: BLE001 - Python would end with 1, to schedulers less than a warning
        if isinstance(error.__cause__, KeyboardInterrupt):  # as DuckDB hands it on
            code = _failed(_INTERRUPTED)
        else:
            traceback.print_exc()
            code = _failed("this is a defect in zscope, please report it with the lines above")
    return code


def describe(error: OSError) -> str:
    """What the operating system refused, and for which file."""
    reason = error.strerror or str(error) or type(error).__name__
    return f"{os.fsdecode(error.filename)}: {reason}" if error.filename else reason


def _failed(message: str) -> int:
    _let_go_of_output()
    click.echo(f"Error: {message}", err=True)
    return ExitCode.NOTHING


def _reader_left() -> int:
    """The reader had enough, as in `zscope fields | head`: nothing is wrong and nothing is left to say."""
    _let_go_of_output()
    return ExitCode.OK


def _let_go_of_output() -> None:
    """Make sure that Python does not try again, while ending, to write what could not be written."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError):  # without a file behind it there is nothing to redirect
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
