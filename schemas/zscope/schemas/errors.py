"""The base of all errors of zscope, and those about the files that users or the project declare things in."""

from __future__ import annotations


class Error(Exception):
    """The base of all errors of zscope: what a wrong file, store, table, metric, setting or zone raises."""


class DeclarationError(Error, ValueError):
    """A wrong declaration or setting: file, line where it is known, key, and the problem."""

    def __init__(self, file: str, key: str, problem: str, line: int | None = None) -> None:
        place = f"{file}, line {line}" if line else file
        super().__init__(": ".join(part for part in (place, key, problem) if part))
        self.file = file
        """A path, the name of a file of the installation, or an option."""
        self.key = key
        self.problem = problem
        self.line = line
        """Counted from 1; None if it is not known."""

    def __reduce__(self) -> tuple[type[DeclarationError], tuple[str, str, str, int | None]]:
        """Return how another process makes the same error."""
        return type(self), (self.file, self.key, self.problem, self.line)


class SettingsError(DeclarationError):
    """A setting that is not valid, in a settings file, the file of runs, an option or an argument."""
