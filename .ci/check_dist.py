"""Compare wheel and sdist with the files under version control: nothing missing, nothing extra.

Also check what package indexes show of the wheel, and its bill of materials (`make sbom`).

Usage: python .ci/check_dist.py dist/
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
ROOTS = ("schemas/zscope/", "parsers/zscope/", "pipelines/zscope/", "sample-data/zscope/", "app/zscope/")


def committed() -> set[str]:
    """Every file git knows or would add, as a path from the top of the checkout."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=CHECKOUT,
        capture_output=True,
        check=True,
    )
    names = {os.fsdecode(name) for name in listing.stdout.split(b"\0") if name}
    return {name for name in names if (CHECKOUT / name).is_file()}


def in_sdist(path: Path) -> set[str]:
    """File names in the sdist, without its top folder and the metadata the build adds."""
    with tarfile.open(path) as archive:
        names = {entry.name.partition("/")[2] for entry in archive if entry.isfile()}
    return names - {"PKG-INFO"}


def in_wheel(path: Path) -> set[str]:
    """File names in the wheel, without its metadata."""
    with zipfile.ZipFile(path) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def metadata_problems(path: Path) -> list[str]:
    """Return what package indexes would show wrongly: extras that are not for users, and relative links."""
    with zipfile.ZipFile(path) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        head, _, description = archive.read(name).decode().partition("\n\n")
    declared = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(re.findall(r"^Provides-Extra: (.*)$", head, re.MULTILINE))
    problems = [
        f"{path.name}: unexpected extra {extra}"
        for extra in sorted(extras ^ set(declared["optional-dependencies"]))
    ]
    targets = re.findall(r"\]\(([^)]+)\)", description)
    return problems + [
        f"{path.name}: relative link {target}" for target in targets if not re.match(r"https://|#", target)
    ]


def bill_problems(path: Path) -> list[str]:
    """Return how the bill of materials differs from the locked runtime dependencies, and missing licenses."""
    components = json.loads(path.read_text(encoding="utf-8"))["components"]
    lock = (CHECKOUT / "requirements" / "runtime.txt").read_text(encoding="utf-8")
    # A marker says that a package is for some platforms or versions of Python only.
    pins = re.findall(r"^([\w.-]+)==(\S+)( ;)?", lock, re.MULTILINE)
    found = {f"{each['name'].lower()}=={each['version']}" for each in components}
    always = {f"{name}=={version}" for name, version, marker in pins if not marker}
    sometimes = {f"{name}=={version}" for name, version, marker in pins if marker}
    problems = differences(path.name, found - sometimes, always)
    return problems + [
        f"{path.name}: no license of {each['name']}" for each in components if not each["licenses"]
    ]


def differences(what: str, found: set[str], expected: set[str]) -> list[str]:
    """One line per file on one side only."""
    missing = [f"{what}: missing {name}" for name in sorted(expected - found)]
    return missing + [f"{what}: unexpected {name}" for name in sorted(found - expected)]


def main(dist: Path) -> int:
    """Report the differences; 0 if there are none."""
    [sdist], [wheel] = dist.glob("*.tar.gz"), dist.glob("*.whl")
    files = committed()
    packages = {name.partition("/")[2] for name in files if name.startswith(ROOTS)}
    problems = differences(sdist.name, in_sdist(sdist), files)
    problems += differences(wheel.name, in_wheel(wheel), packages)
    problems += metadata_problems(wheel)
    problems += bill_problems(wheel.with_name(wheel.name + ".cdx.json"))
    print(*problems, sep="\n", end="\n" if problems else "", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
