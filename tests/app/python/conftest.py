"""What the tests of the Python interface share."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.dumps import generated
from tests.made_once import made_once

from zscope.app.cli.main import program
from zscope.samples import Recipe

ROOT = Path(__file__).resolve().parents[3]
DUMP = ROOT / "sample-data" / "smf-sample.bin"
REPORTS = ROOT / "sample-data" / "reports"


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like the checkout, with the small sample data in a store; it is not changed."""

    def make(folder: Path) -> None:
        (folder / "sample-data").symlink_to(ROOT / "sample-data")
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            files = ["sample-data/smf-sample.bin", "sample-data/reports"]
            done = CliRunner().invoke(program, ["ingest", *files, "--timezone", "+01:00"], prog_name="zscope")
            assert done.exit_code == 0, done.stderr

    return made_once(tmp_path_factory, "python-checkout", make)


@pytest.fixture(scope="session")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dump with damage between good records."""
    path = tmp_path_factory.mktemp("damaged") / "damaged.smf"
    recipe = Recipe(records=800, mix={"zert-detail": 1.0}, seed=5, damage=("mid-garbage",))
    path.write_bytes(generated(recipe))
    return path
