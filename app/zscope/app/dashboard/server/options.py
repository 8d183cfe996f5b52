"""How Streamlit is started: closed to the outside, without its own tools, in our colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from zscope.app.dashboard.server.variables import MEMORY, SIGN_IN, STORE, THREADS

_ALWAYS: Mapping[str, str] = {
    "browser.gatherUsageStats": "false",  # otherwise each page tells Streamlit's makers that it was opened
    "client.showErrorDetails": "none",  # a defect is in the log; readers get a message
    "client.showErrorLinks": "false",
    "client.toolbarMode": "viewer",
    "global.developmentMode": "false",
    "runner.magicEnabled": "false",
    "server.enableStaticServing": "false",
    "server.enableXsrfProtection": "true",
    "server.fileWatcherType": "none",
    "server.maxUploadSize": "1",  # nothing is ever sent to it
    "server.showEmailPrompt": "false",
    "theme.paddingTop": "1.5rem",
    "theme.paddingBottom": "3rem",
    "theme.baseFontSize": "15",
    "theme.light.primaryColor": "#0b6aa2",
    "theme.dark.primaryColor": "#3a8fc4",
}


def program() -> list[str]:
    """What Python is to run."""
    return ["-m", "streamlit", "run", str(Path(__file__).with_name("main.py"))]


def streamlit_options(
    address: str,
    port: int,
    hosts: Sequence[str],
    base_path: str,
    secrets: Path | None,
    *,
    open_browser: bool,
) -> list[str]:
    """The options of Streamlit, which go before whatever its configuration files say."""
    chosen = {
        **_ALWAYS,
        "server.address": address,
        "server.port": str(port),
        "server.baseUrlPath": base_path,
        "server.headless": "false" if open_browser else "true",
    }
    options = [f"--{name}={value}" for name, value in chosen.items()]
    options += [f"--server.allowedHosts={host}" for host in hosts]
    return [*options, *([f"--secrets.files={secrets.resolve()}"] if secrets else [])]


def environment(store: Path, memory: str | None, threads: int | None, *, sign_in: bool) -> dict[str, str]:
    """What the pages are told; nothing is left over from the environment of the command."""
    return {
        STORE: str(store),
        MEMORY: memory or "",
        THREADS: str(threads or ""),
        SIGN_IN: "yes" if sign_in else "",
    }
