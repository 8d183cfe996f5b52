"""Hide libraries that are installed, from commands that do not need them: importing them takes long."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


def without_pandas() -> None:
    """Hide pandas from this process.

    If pandas is installed, Arrow imports it at the first conversion of a Python value or numpy array, even of
    a scalar, and DuckDB at the first statement with parameters; neither has an option against it. No command
    passes rows to pandas, and the import costs a third of a second and a hundred megabytes. The Python
    interface does not hide it, because the programs that use the interface can need it.
    """
    _hide("pandas")


def without_numpy() -> None:
    """Hide numpy from this process, which then must not decode, load or estimate anything.

    Arrow imports numpy if it is installed, which takes more time than the rest of Arrow. A command that only
    prints rows of a store has no arrays.
    """
    _hide("numpy")


def _hide(library: str) -> None:
    if library not in sys.modules:
        sys.meta_path.insert(0, _Hider(library))


class _Hider:
    """A finder; its base class is not imported, because that takes as long as the rest of this module."""

    def __init__(self, library: str) -> None:
        self._library = library

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 - the interface of finders
        target: ModuleType | None = None,  # noqa: ARG002
        /,
    ) -> ModuleSpec | None:
        if fullname == self._library:
            raise ModuleNotFoundError(f"this command works without {fullname}", name=fullname)
        return None
