"""Keeping out of a command what it does not use and its libraries would load.

Arrow looks for pandas as soon as it makes a column of Python values. Where pandas is installed, with the
extra for data quality for instance, that costs every command a third of a second and a hundred megabytes for
nothing: no command hands rows to pandas. Programs and notebooks that use our packages are not concerned.
"""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


class _NotHere(MetaPathFinder):
    """Says of pandas that it is not there."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 - the interface of finders
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """Refuse one name and leave all others to the finders behind."""
        if fullname == "pandas":
            raise ModuleNotFoundError("zscope's commands work without pandas", name=fullname)
        return None


def without_pandas() -> None:
    """Let nothing in this process import pandas."""
    sys.meta_path.insert(0, _NotHere())
