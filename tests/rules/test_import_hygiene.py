"""Which libraries are imported: a contract on import lines cannot see imports at run time."""

from __future__ import annotations

import subprocess
import sys

import pytest

# Run one statement in a new interpreter and report the top-level modules it imported. The report goes to
# standard error because standard output belongs to the program under test.
PROBE = """
import sys
sys.argv = ["zscope", "--help"]
try:
    {statement}
except SystemExit as stop:
    assert stop.code in (None, 0), f"exit code {{stop.code}}"
print("loaded", *sorted({{name.partition(".")[0] for name in sys.modules}}), file=sys.stderr)
"""

MAIN = "from zscope.app.cli.main import main; main()"
SCREENS_AND_STORES = ("duckdb", "great_expectations", "pandas", "polars", "streamlit")
NOT_LOADED = {
    "import zscope.schemas": SCREENS_AND_STORES,
    "import zscope.parsers": SCREENS_AND_STORES,
    "import zscope.api": SCREENS_AND_STORES,
    # zscope --help
    MAIN: (*SCREENS_AND_STORES, "numpy", "pyarrow"),
    # A command that reads a dump, with pandas installed.
    f"sys.argv[1:] = ['inventory', 'sample-data/smf-sample.bin']; {MAIN}": (SCREENS_AND_STORES),
    # The help of commands that use a store.
    f"sys.argv[1:] = ['dashboard', '--help']; {MAIN}": (
        *SCREENS_AND_STORES,
        "numpy",
        "pyarrow",
    ),
    f"sys.argv[1:] = ['sql', '--help']; {MAIN}": (
        *SCREENS_AND_STORES,
        "numpy",
        "pyarrow",
    ),
}


@pytest.fixture(scope="module")
def loaded() -> dict[str, frozenset[str]]:
    """Return the modules that each statement imports; one interpreter each."""
    return {statement: _modules_after(statement) for statement in NOT_LOADED}


def _modules_after(statement: str) -> frozenset[str]:
    probe = PROBE.format(statement=statement)
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [report] = [line for line in done.stderr.splitlines() if line.startswith("loaded ")]
    return frozenset(report.split()[1:])


@pytest.mark.parametrize(
    ("statement", "library"),
    [(statement, library) for statement, libraries in NOT_LOADED.items() for library in libraries],
)
def test_library_is_not_loaded(statement: str, library: str, loaded: dict[str, frozenset[str]]) -> None:
    assert library not in loaded[statement], f"import {library} inside the function that needs it"


def test_the_probe_sees_what_is_loaded() -> None:
    """Otherwise the tests above would pass for the wrong reason."""
    assert "numpy" in _modules_after("import numpy")
