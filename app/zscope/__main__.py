"""Run the command line as `python -m zscope`."""

from __future__ import annotations

from zscope.app.cli.main import start

if __name__ == "__main__":
    start()
