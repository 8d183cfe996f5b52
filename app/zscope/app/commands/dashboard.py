"""Show the store in a browser."""

from __future__ import annotations

import os
import socket
import sys
from importlib.util import find_spec
from pathlib import Path

import click

from zscope.app.exits import NothingDoneError
from zscope.app.store_option import store_option

PORT = 8501
LOOPBACK = "127.0.0.1"
_OWN_NAMES = ("localhost", LOOPBACK, "[::1]", "::1")


@click.command()
@store_option
@click.option("--port", metavar="N", type=click.IntRange(1, 65535), default=PORT, show_default=True,
              help="The port to listen on.")  # fmt: skip
@click.option("--address", metavar="IP", default=LOOPBACK, show_default=True,
              help="The address to listen on. Others than this one let in whoever reaches it.")  # fmt: skip
@click.option(
    "--host", "hosts", metavar="NAME", multiple=True,
    help="A name by which browsers may reach it, such as that of a proxy; may be repeated.",
)  # fmt: skip
@click.option("--base-path", metavar="PATH", default="", help="The path a proxy puts before every address.")
@click.option("--open/--no-open", "open_browser", default=False, help="Open a browser. Default: no.")
@click.option("--memory", metavar="SIZE", help="Memory for each question, such as 2GB. Default: DuckDB's.")
@click.option("--threads", metavar="N", type=click.IntRange(min=1), help="Threads for each question.")
@click.option(
    "--sign-in", "secrets", metavar="FILE", type=click.Path(path_type=Path),
    help="Let only those in who sign in; the file names the OpenID Connect provider (docs/dashboard.md).",
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
    """Show the store in a browser.

    Starts a server on this machine and prints its address; Ctrl-C ends it. It only reads: loads go on
    meanwhile, and what they bring appears by itself. Filters and choices are in the address of a page, which
    can be sent as a link.

    \b
    Examples:
      zscope dashboard
      zscope dashboard --store /data/zscope-store --port 8600 --open

    It needs the extra `dashboard`: pip install 'zscope[dashboard]'. The exit code is 12 if it cannot start.
    """
    from zscope.app.dashboard.server.options import environment, program, streamlit_options

    if find_spec("streamlit") is None:
        raise NothingDoneError("the dashboard is not installed: pip install 'zscope[dashboard]'")
    if secrets is not None:
        _can_sign_in(secrets)
    if memory is not None:
        _is_size(memory)
    if store.is_file():
        raise NothingDoneError(f"{store}: this is a file and no store; name a folder")
    _can_listen(address, port)
    if not store.is_dir():
        click.echo(f"{store}: there is no store yet; its pages will say how to make one", err=True)
    if address not in _OWN_NAMES and secrets is None:
        click.echo(
            f"Whoever can reach {address} port {port} can read the store; docs/dashboard.md has how to let "
            "only those in who sign in",
            err=True,
        )
    click.echo(f"http://{'localhost' if address in _OWN_NAMES else address}:{port}/{base_path.strip('/')}")
    sys.stdout.flush()
    allowed = (*_OWN_NAMES, *hosts) if address in _OWN_NAMES or hosts else ()
    options = streamlit_options(address, port, allowed, base_path, secrets, open_browser=open_browser)
    variables = environment(store, memory, threads, sign_in=secrets is not None)
    # A program of its own, in the place of this one: a signal reaches it, and its exit code is ours.
    os.execve(sys.executable, [sys.executable, *program(), *options], {**os.environ, **variables})


def _is_size(memory: str) -> None:
    import duckdb

    try:
        duckdb.connect(config={"memory_limit": memory}).close()
    except duckdb.Error as error:
        told = str(error).partition("\n")[0]
        raise NothingDoneError(f"--memory {memory}: {told}; expected is a size such as 2GB") from error


def _can_listen(address: str, port: int) -> None:
    try:
        family = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((address, port))
    except OSError as error:
        reason = error.strerror or str(error)
        raise NothingDoneError(
            f"{address} port {port} cannot be listened on: {reason}; choose another one by --port"
        ) from error


def _can_sign_in(secrets: Path) -> None:
    if not secrets.is_file():
        raise NothingDoneError(f"{secrets}: there is no such file with the settings for signing in")
    if find_spec("authlib") is None:
        raise NothingDoneError("signing in needs Authlib: pip install 'streamlit[auth]'")
