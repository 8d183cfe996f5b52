"""Which libraries are imported: a contract on import lines cannot see imports at run time."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

# Run one statement in a new interpreter and report the modules it imported. The report goes to standard error
# because standard output belongs to the program under test.
PROBE = """
import sys
sys.argv = ["zscope", "--help"]
try:
    {statement}
except SystemExit as stop:
    assert stop.code in {codes}, f"exit code {{stop.code}}"
print("loaded", *sorted(sys.modules), file=sys.stderr)
"""

MAIN = "from zscope.app.cli.main import main; main()"
SCREENS_AND_STORES = ("duckdb", "great_expectations", "pandas", "polars", "streamlit")
NOT_LOADED = {
    "import zscope.schemas": SCREENS_AND_STORES,
    "import zscope.parsers": SCREENS_AND_STORES,
    "import zscope.api": (*SCREENS_AND_STORES, "numpy", "pyarrow", "zscope.parsers", "zscope.schemas"),
    # zscope --help
    MAIN: (*SCREENS_AND_STORES, "numpy", "pyarrow"),
    f"sys.argv[1:] = ['inventory', 'sample-data/smf-sample.bin']; {MAIN}": SCREENS_AND_STORES,
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
    f"sys.argv[1:] = ['nightly', '--example']; {MAIN}": (
        *SCREENS_AND_STORES,
        "numpy",
        "pyarrow",
    ),
}


@pytest.fixture(scope="module")
def loaded() -> dict[str, frozenset[str]]:
    """Return the modules that each statement imports; one interpreter each."""
    return {statement: _modules_after(statement) for statement in NOT_LOADED}


def _modules_after(statement: str, codes: tuple[int | None, ...] = (None, 0)) -> frozenset[str]:
    probe = PROBE.format(statement=statement, codes=codes)
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


DUMP = "sample-data/smf-sample.bin"
DECODED = ("decode", DUMP, "--table", "smf119_zert_detail", "--limit", "2")
COMMANDS_WITH_A_STORE = {
    "ingest": ("ingest", DUMP, "--timezone", "+01:00"),
    "sql": ("sql", "SELECT job_name FROM smf119_zert_detail LIMIT 2", "--raw", "--format", "table"),
    "loads": ("loads",),
    "issues": ("issues",),
    "metrics": ("metrics", "handshake_mix", "--by", "system"),
    "check": ("check",),
    "export": ("export", "--format", "csv", "smf119_zert_detail"),
}
"""Each works on the store that the first of them creates."""


@pytest.fixture(scope="module")
def loaded_by_commands(tmp_path_factory: pytest.TempPathFactory) -> dict[str, frozenset[str]]:
    """Return the modules that each command imports; one interpreter each."""
    folder = tmp_path_factory.mktemp("imports")
    arguments = {"decode": list(DECODED)}
    for name, command in COMMANDS_WITH_A_STORE.items():
        arguments[name] = [*command, "--store", str(folder / "store")]
    arguments["export"] += ["-o", str(folder / "exported")]
    return {
        name: _modules_after(f"sys.argv[1:] = {listed!r}; {MAIN}", codes=(None, 0, 4, 8))
        for name, listed in arguments.items()
    }


@pytest.mark.parametrize("command", ["decode", *COMMANDS_WITH_A_STORE])
def test_a_command_does_not_import_pandas(
    command: str, loaded_by_commands: dict[str, frozenset[str]]
) -> None:
    """Arrow imports it for every conversion of Python values, DuckDB for every parameter."""
    assert find_spec("pandas"), "without pandas this test would prove nothing"
    assert "pyarrow" in loaded_by_commands[command]
    assert not {"pandas", "great_expectations"} & loaded_by_commands[command]


@pytest.mark.parametrize("command", ["sql", "loads", "issues", "metrics"])
def test_a_command_that_prints_rows_does_not_import_numpy(
    command: str, loaded_by_commands: dict[str, frozenset[str]]
) -> None:
    """Arrow imports it if it can, which takes as long as the work of these commands."""
    assert "numpy" not in loaded_by_commands[command]
    assert "numpy" in loaded_by_commands["export"], "otherwise this test would prove nothing"


BUILDING_A_CATALOGUE = (
    "pyarrow.parquet",
    "zscope.parsers",
    "zscope.pipelines.metrics",
    "zscope.pipelines.runs",
    "zscope.pipelines.store.catalogue",
    "zscope.pipelines.store.commits",
    "zscope.schemas.load",
    "zscope.schemas.model",
)


@pytest.mark.parametrize("command", ["sql", "loads"])
def test_a_query_does_not_import_what_builds_a_catalogue(
    command: str, loaded_by_commands: dict[str, frozenset[str]]
) -> None:
    """The imports would take as long as everything else."""
    assert "zscope.pipelines.store.reader" in loaded_by_commands[command]
    assert not loaded_by_commands[command] & set(BUILDING_A_CATALOGUE)
    assert set(BUILDING_A_CATALOGUE) <= loaded_by_commands["ingest"], "the names are those of modules"


def test_the_probe_sees_what_is_loaded() -> None:
    """Otherwise the tests above would pass for the wrong reason."""
    assert "numpy" in _modules_after("import numpy")
