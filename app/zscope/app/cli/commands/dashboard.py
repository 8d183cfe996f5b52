"""Start the dashboard."""

from __future__ import annotations

import os
import socket
import sys
from importlib.util import find_spec
from pathlib import Path

import click

from zscope.app.cli.exits import NothingDoneError
from zscope.app.cli.store_option import store_option

PORT = 8501
LOOPBACK = "127.0.0.1"
_OWN_NAMES = ("localhost", LOOPBACK, "[::1]", "::1")


@click.command()
@store_option
@click.option("--port", metavar="N", type=click.IntRange(1, 65535), default=PORT, show_default=True,
              help="Port to listen on.")  # fmt: skip
@click.option("--address", metavar="IP", default=LOOPBACK, show_default=True,
              help="Address to listen on. With the default only this machine can connect.")  # fmt: skip
@click.option(
    "--host", "hosts", metavar="NAME", multiple=True,
    help="Host name that browsers use to reach the server, such as that of a proxy. Can be repeated.",
)  # fmt: skip
@click.option(
    "--base-path", metavar="PATH", default="", help="Path that a proxy adds in front of every address."
)
@click.option("--open/--no-open", "open_browser", default=False, help="Open a browser. Default: no.")
@click.option(
    "--memory", metavar="SIZE", help="Memory limit of each query, such as 2GB. Default: that of DuckDB."
)
@click.option(
    "--threads", metavar="N", type=click.IntRange(min=1),
    help="Threads of each query. Default: one per CPU, and one for a store of less than 500,000 rows.",
)  # fmt: skip
@click.option(
    "--sign-in", "secrets", metavar="FILE", type=click.Path(path_type=Path),
    help="Require users to sign in; FILE names the OpenID Connect provider (docs/answers.md).",
)  # fmt: skip
def command(  # noqa: PLR0913 - one argument for each option
    *,
    store: Path,
    port: int,
    address: str,
    hosts: tuple[str, ...],
    base_path: str,
    open_browser: bool,
    memory: str | None,
    threads: int | None,
    secrets: Path | None,
) -> None:
    """Start the dashboard on a store, for a browser.

    Starts a server on this machine and prints its address; Ctrl-C stops it. The dashboard only reads the
    store: loads can run at the same time, and the pages show their data when they have ended. The address
    of a page contains its filters, so it can be sent as a link.

    \b
    Examples:
      zscope dashboard
      zscope dashboard --store /data/zscope-store --port 8600 --open

    Needs the extra `dashboard`: pip install 'zscope[dashboard]'. The exit code is 12 if it cannot start.
    """
    from zscope.app.shared.dashboard_server import environment, program, streamlit_options

    if find_spec("streamlit") is None:
        raise NothingDoneError("the dashboard is not installed: pip install 'zscope[dashboard]'")
    if secrets is not None:
        _check_sign_in(secrets)
    if memory is not None:
        _check_memory(memory)
    if store.is_file():
        raise NothingDoneError(f"{store}: this is a file, not a store; name a folder")
    _check_address(address, port)
    if not store.is_dir():
        click.echo(f"{store}: there is no store yet; the pages explain how to create one", err=True)
    if address not in _OWN_NAMES and secrets is None:
        click.echo(
            f"Everyone who can reach {address} port {port} can read the store; docs/answers.md explains "
            "how to require users to sign in",
            err=True,
        )
    click.echo(f"http://{'localhost' if address in _OWN_NAMES else address}:{port}/{base_path.strip('/')}")
    sys.stdout.flush()
    allowed = (*_OWN_NAMES, *hosts) if address in _OWN_NAMES or hosts else ()
    options = streamlit_options(address, port, allowed, base_path, secrets, open_browser=open_browser)
    variables = environment(store, memory, threads, sign_in=secrets is not None)
    # Replace this process: signals then reach the server, and its exit code is the exit code of the command.
    os.execve(sys.executable, [sys.executable, *program(), *options], {**os.environ, **variables})


def _check_memory(memory: str) -> None:
    import duckdb

    try:
        duckdb.connect(config={"memory_limit": memory}).close()
    except duckdb.Error as error:
        message = str(error).partition("\n")[0]
        raise NothingDoneError(f"--memory {memory}: {message}; use a size such as 2GB") from error


def _check_address(address: str, port: int) -> None:
    try:
        family = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((address, port))
    except OSError as error:
        reason = error.strerror or str(error)
        raise NothingDoneError(
            f"cannot listen on {address} port {port}: {reason}; choose another port with --port"
        ) from error


def _check_sign_in(secrets: Path) -> None:
    if not secrets.is_file():
        raise NothingDoneError(f"{secrets}: the file with the settings for signing in does not exist")
    if find_spec("authlib") is None:
        raise NothingDoneError("signing in needs Authlib: pip install 'streamlit[auth]'")
