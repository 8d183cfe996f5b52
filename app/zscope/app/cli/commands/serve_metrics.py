"""Serve the newest values of the metrics to Prometheus."""

from __future__ import annotations

import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from zscope.app.cli.exits import NothingDoneError, print_message
from zscope.app.cli.series_export import MOST_SERIES
from zscope.app.cli.store_option import store_option

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import FrameType

    from zscope.pipelines.exposition.page_server import PageServer

PORT = 9887
LOOPBACK = "127.0.0.1"


@click.command()
@click.argument("metrics", metavar="[METRIC]...", nargs=-1)
@click.option("--host", metavar="ADDRESS", default=LOOPBACK, show_default=True,
              help="Address to listen on. With the default only this machine can connect.")  # fmt: skip
@click.option("--port", metavar="N", type=click.IntRange(0, 65535), default=PORT, show_default=True,
              help="Port to listen on; 0 chooses a free one.")  # fmt: skip
@click.option(
    "--max-series", "most_series", metavar="N", type=click.IntRange(min=1), default=MOST_SERIES,
    show_default=True, help="Leave out metrics with which the page would have more than N series.",
)  # fmt: skip
@store_option
def command(metrics: tuple[str, ...], *, host: str, port: int, most_series: int, store: Path) -> None:
    """Serve the newest values of the metrics to Prometheus.

    The page /metrics has the series that `zscope export --format prometheus` writes: of the named metrics,
    or of all that are exported by default. It is computed again when the store has changed; loads can run at
    the same time. If the store cannot be read, zscope_export_store_up is 0. /-/healthy answers while the
    server runs, /-/ready while the store can be read. Ctrl-C or SIGTERM stops it.

    \b
    Examples:
      zscope serve-metrics
      zscope serve-metrics tls_price check_overview --port 9100 --store /data/zscope-store

    Exit codes: 0 after Ctrl-C or SIGTERM; 12 if it cannot start.
    """
    from importlib.metadata import version

    from zscope.pipelines.export_target import ExportError
    from zscope.pipelines.exposition import series_query
    from zscope.pipelines.exposition.metrics_page import MetricsPage
    from zscope.pipelines.exposition.page_server import PageServer
    from zscope.pipelines.metrics import metric, metric_names
    from zscope.schemas.suggestions import suggestion

    for name in metrics:
        if name not in metric_names():
            hint = suggestion(name, metric_names(), "zscope metrics lists them")
            raise click.UsageError(f"there is no metric {name!r}; {hint}")
        try:
            series_query(metric(name), newest=True)
        except ExportError as error:
            raise NothingDoneError(str(error)) from error
    page = MetricsPage(
        store,
        version("zscope"),
        most_series,
        tuple(dict.fromkeys(metrics)),
        report=print_message,
    )
    try:
        server = PageServer(host, port, page)
    except OSError as error:
        reason = error.strerror or str(error)
        raise NothingDoneError(
            f"cannot listen on {host} port {port}: {reason}; choose another port with --port"
        ) from error
    with server, _stopping(server):
        if problem := page.problem():
            click.echo(f"{problem}; until then the page says so", err=True)
        if host not in {LOOPBACK, "::1", "localhost"}:
            click.echo(f"Everyone who can reach {host} port {port} can read the metrics", err=True)
        click.echo(server.address)
        sys.stdout.flush()
        page.prepare()
        server.serve_forever(poll_interval=0.2)
    page.close()
    click.echo("stopped", err=True)


@contextmanager
def _stopping(server: PageServer) -> Iterator[None]:
    """Stop the server at SIGTERM and Ctrl-C.

    An exception of the signal handler would be lost if it came while a request is accepted.
    """

    def stop(_number: int, _frame: FrameType | None) -> None:
        # `shutdown` waits until the main thread has left its loop, so another thread has to call it.
        threading.Thread(target=server.shutdown, daemon=True).start()

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
