"""The base of all errors of zscope, and those about the files that users or the project declare things in."""

from __future__ import annotations


class Error(Exception):
    """The base of all errors of zscope: what a wrong file, store, table, metric, setting or zone raises."""


class DeclarationError(Error, ValueError):
    """A wrong declaration or setting: file, line where it is known, key, and the problem."""

    def __init__(
        self,
        file: str,
        key: str,
        problem: str,
        line: int | None = None,
        further: tuple[DeclarationError, ...] = (),
    ) -> None:
        place = f"{file}, line {line}" if line else file
        text = ": ".join(part for part in (place, key, problem) if part)
        super().__init__("\n".join([text, *map(str, further)]))
        self.file = file
        """A path, the name of a file of the installation, or an option."""
        self.key = key
        self.problem = problem
        self.line = line
        """Counted from 1; None if it is not known."""
        self.further = further
        """The other problems of the same file, in the order of their lines."""

    def __reduce__(self) -> tuple[type[DeclarationError], tuple[object, ...]]:
        """Return how another process makes the same error."""
        return type(self), (self.file, self.key, self.problem, self.line, self.further)


class SettingsError(DeclarationError):
    """A setting that is not valid, in a settings file, the file of runs, an option or an argument."""
