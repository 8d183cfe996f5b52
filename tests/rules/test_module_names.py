"""Names of modules say what is in them: no two modules of a package have the same name."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
REASONS = {
    "commands": "each module is named as its command",
    "pages": "each module is named as the address of its page",
}
"""Folders whose modules have a name for another reason, and may be called as a module elsewhere."""
SAME = {"__init__", "__main__"}


@pytest.mark.parametrize("root", ["schemas", "parsers", "pipelines", "sample-data", "app"])
def test_no_two_modules_of_a_package_have_the_same_name(root: str) -> None:
    modules = defaultdict(list)
    for path in (CHECKOUT / root / "zscope").rglob("*.py"):
        if path.parent.name not in REASONS and path.stem not in SAME:
            modules[path.stem].append(str(path.relative_to(CHECKOUT)))
    twice = {name: paths for name, paths in modules.items() if len(paths) > 1}
    assert not twice
