"""Build the image of the Containerfile, and run the `podman run` commands of docs/operate.md with it.

Needs root, buildah, and the wheel (`make build`). The base image is pulled; where no registry can be reached,
it is a small Debian made by debootstrap. The commands run as the user of the image with the volumes of their
options, with a read-only root file system and no network, in a chroot: this needs no runtime for containers
and works inside most of them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[1]
RECIPES = CHECKOUT / "docs" / "operate.md"
FOLDERS = {"/data": "data", "/etc/zscope": "etc"}
"""The folders that the recipes mount, and those that take their place here."""
BASE = os.environ.get("BASE", "docker.io/library/python:3.13-slim")
OWN_BASE = "localhost/zscope-base"
IMAGE = "localhost/zscope"
DEBIAN = "bookworm"
PACKAGES = "python3,python3-venv,ca-certificates"
CERTIFICATES = "/etc/ssl/certs"
SETTINGS = 'store = "/data/zscope"\n[load]\nfolders = ["/data/incoming"]\nsettle_s = 0\n'
HEALTH = """
import time, urllib.request
for _ in range(600):
    try:
        print(urllib.request.urlopen("http://127.0.0.1:8501/_stcore/health", timeout=5).read().decode())
        break
    except OSError:
        time.sleep(0.1)
else:
    raise SystemExit("the dashboard does not answer")
"""


def output(*command: str, known: tuple[int, ...] = (0,)) -> str:
    """Run a command in the checkout and return what it prints; end if it fails."""
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    if done.returncode not in known:
        sys.exit(f"{shlex.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def base_image(work: Path) -> str:
    """Return the name of a base image that is on this machine."""
    pulled = subprocess.run(["buildah", "pull", "--quiet", BASE], capture_output=True, text=True, check=False)
    if pulled.returncode == 0:
        return BASE
    if OWN_BASE not in output("buildah", "images", "--format", "{{.Name}}").split():
        print(f"{BASE} cannot be pulled: {pulled.stderr.strip().splitlines()[-1]}; Debian is made instead")
        root = work / "debian"
        output("debootstrap", "--variant=minbase", f"--include={PACKAGES}", DEBIAN, str(root))
        container = output("buildah", "from", "scratch")
        output("buildah", "add", "--quiet", container, str(root), "/")
        output("buildah", "commit", "--quiet", "--rm", container, OWN_BASE)
    return OWN_BASE


def build(base: str) -> dict[str, Any]:
    """Build the image; return its configuration."""
    # Certificates of the machine count, as for all downloads of `make`.
    output(
        "buildah", "build", "--layers", "--isolation", "chroot",
        "--tag", IMAGE, "--build-arg", f"BASE={base}",
        *(("--volume", f"{CERTIFICATES}:{CERTIFICATES}:ro") if base == OWN_BASE else ()), ".",
    )  # fmt: skip
    inspected = json.loads(output("buildah", "inspect", "--type", "image", IMAGE))
    config: dict[str, Any] = inspected["OCIv1"]["config"]
    return config


def recipes() -> list[argparse.Namespace]:
    """Return the `podman run` commands of the recipes; an option that is unknown here ends the program."""
    parser = argparse.ArgumentParser("podman run", allow_abbrev=False)
    for option in ("--rm", "--read-only"):
        parser.add_argument(option, action="store_true", required=True)
    parser.add_argument("--userns")
    parser.add_argument("--publish")
    parser.add_argument("--volume", action="append", default=[])
    parser.add_argument("image", choices=["zscope"])
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    text = RECIPES.read_text(encoding="utf-8").replace("\\\n", " ")
    return [
        parser.parse_args(shlex.split(line)) for line in re.findall(r"^podman run (.*)", text, re.MULTILINE)
    ]


def started(config: dict[str, Any], root: str, work: Path, volumes: list[str], arguments: str) -> list[str]:
    """Return the command that runs the image: read-only, without a network, as its user."""
    variables = shlex.join(["env", "-i", *config["Env"]])
    inside = f"cd {config['WorkingDir']} && exec {variables} {arguments}"
    mounts = []
    for volume in volumes:
        source, target, *access = volume.split(":")
        mounts.append(f"mount --bind {work / FOLDERS[source]} {root}{target}")
        mounts += [f"mount -o remount,{each},bind {root}{target}" for each in access]
    script = f"""
        set -e
        mount --bind {root} {root}
        mount -o remount,ro,bind {root}
        mount -t tmpfs -o mode=1777 tmpfs {root}/tmp
        mount -t proc proc {root}/proc
        {"; ".join(mounts)}
        ip link set lo up
        exec chroot --userspec={config["User"]} {root} /bin/sh -c {shlex.quote(inside)}
    """
    return ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "sh", "-c", script]


def main() -> None:
    """Build and run."""
    if os.geteuid() != 0 or not shutil.which("buildah"):
        sys.exit("the image is built by root with buildah: apt-get install buildah debootstrap")
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        work.chmod(0o755)
        config = build(base_image(work))
        commands = recipes()
        if not commands:
            sys.exit(f"{RECIPES.name} has no podman run command")
        user, _, group = config["User"].partition(":")
        if int(user) == 0:
            sys.exit("the image runs as root")
        (work / "data" / "incoming").mkdir(parents=True)
        (work / "etc").mkdir()
        (work / "etc" / "nightly.toml").write_text(SETTINGS, encoding="utf-8")
        shutil.copy(CHECKOUT / "sample-data" / "smf-sample.bin", work / "data" / "incoming")
        for path in (work / "data", work / "data" / "incoming"):
            os.chown(path, int(user), int(group))
        container = output("buildah", "from", IMAGE)
        try:
            root = output("buildah", "mount", container)
            for recipe in commands:
                arguments = shlex.join([*config["Entrypoint"], *(recipe.arguments or config["Cmd"])])
                print(f"$ {arguments}", flush=True)
                if "dashboard" in recipe.arguments:
                    asked = f"{arguments} & python3 -c {shlex.quote(HEALTH)}"
                    arguments = f"sh -c {shlex.quote(asked)}"
                # 4: loaded, with issues of the sample.
                known = (0,) if recipe.arguments else (0, 4)
                print(output(*started(config, root, work, recipe.volume, arguments), known=known), flush=True)
            written = subprocess.run(
                started(config, root, work, ["/data:/data"], "touch /opt/zscope/written"),
                capture_output=True, check=False,
            )  # fmt: skip
            if written.returncode == 0 or not (work / "data" / "zscope" / "zscope.duckdb").is_file():
                sys.exit("the root file system can be written, or there is no store in /data")
        finally:
            output("buildah", "rm", container)
    print(
        f"{IMAGE}: built; {len(commands)} commands of {RECIPES.name} run as user {user} with a read-only root"
    )


if __name__ == "__main__":
    main()
