"""Measure what each extra costs: `python benchmarks/extras.py [EXTRA ...]`.

Installs zscope without and with each extra into an empty environment, in the locked versions, and prints the
size of the installed files and the number of packages as a Markdown table. Needs the wheel (`make build`) and
`.uv`.
"""

from __future__ import annotations

import platform
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
UV = CHECKOUT / ".uv" / "bin" / "uv"
LOCKS = ("spark", "container")
MB = 1_000_000


def extras() -> list[str]:
    """Return the names of all extras."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return sorted(project["optional-dependencies"])


def constraints(folder: Path) -> Path:
    """Write the pins of the locks, without their hashes, as constraints."""
    pins: dict[str, str] = {}
    for lock in LOCKS:
        text = (CHECKOUT / "requirements" / f"{lock}.txt").read_text(encoding="utf-8")
        for name, pin in re.findall(r"^([a-z0-9-]+)(==[^\\\n]+)", text, re.MULTILINE):
            pins.setdefault(name, f"{name}{pin.strip()}")
    file = folder / "constraints.txt"
    file.write_text("\n".join(pins.values()), encoding="utf-8")
    return file


def measured(extra: str, folder: Path, pins: Path) -> tuple[float, int]:
    """Install zscope with an extra; return the MB of its files and the number of packages."""
    [wheel] = (CHECKOUT / "dist").glob("zscope-*.whl")
    place = folder / (extra or "zscope")
    uv(["venv", "--quiet", "--python", sys.executable, str(place)])
    wanted = f"zscope[{extra}] @ {wheel.as_uri()}" if extra else f"zscope @ {wheel.as_uri()}"
    uv(["pip", "install", "--quiet", "--python", str(place / "bin" / "python"), "-c", str(pins), wanted])
    [packages] = place.glob("lib/python*/site-packages")
    size = sum(file.stat().st_size for file in packages.rglob("*") if file.is_file())
    return size / MB, len(list(packages.glob("*.dist-info")))


def uv(arguments: list[str]) -> None:
    """Run uv."""
    subprocess.run([str(UV), *arguments], check=True)


def main() -> None:
    """Print the table."""
    wanted = sys.argv[1:] or extras()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pins = constraints(folder)
        base, packages = measured("", folder, pins)
        print("| extra | adds MB | adds packages |")
        print("|---|---:|---:|")
        print(f"| none | {base:,.0f} | {packages} |")
        for extra in wanted:
            size, count = measured(extra, folder, pins)
            print(f"| `{extra}` | {size - base:,.0f} | {count - packages} |", flush=True)
    print(f"\n{platform.system()} {platform.machine()}, Python {platform.python_version()}")


if __name__ == "__main__":
    main()
