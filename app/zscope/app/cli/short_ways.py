"""Short ways to metrics: commands such as `zscope price`, with the options of `zscope metrics`."""

from __future__ import annotations

from typing import NamedTuple

import click


class ShortWay(NamedTuple):
    """A command for a metric."""

    metric: str
    help: str
    """First line of its help."""
    order: str = ""
    """How its rows are sorted, and what they mean."""


SHORT_WAYS = {
    "price": ShortWay("tls_price", "Print what TLS costs: CPU seconds a day, with range and status."),
    "advice": ShortWay(
        "tls_advice",
        "Print what a change of the AT-TLS policy would save, with range and status.",
        "A saving is CPU seconds on a mean day of the last seven days with zERT details. First come changes "
        "of which the data show the setting or the cause (is_seen), of these the savings with a narrow range "
        "(status estimate), then changes that may have been made already; last what saves less than 1 % of "
        "the TLS CPU cost, and what the data are not enough for. Never add savings: changes overlap.",
    ),
    "certificates": ShortWay(
        "certificate_inventory", "Print the certificates that were seen, with their end and who uses them."
    ),
}
"""The commands, each with its metric."""


def short_command(name: str) -> click.Command:
    """Return the command of a short way: `zscope metrics` with the name of the metric."""
    from zscope.app.cli.commands import metrics

    way = SHORT_WAYS[name]

    hidden = {"name"} if way.metric == "tls_price" else {"name", "price_per_msu"}

    def run(**options: object) -> object:
        assert metrics.command.callback is not None, "a command has a function"
        return metrics.command.callback(name=way.metric, **options)

    return click.Command(
        name,
        params=[each for each in metrics.command.params if each.name not in hidden],
        callback=run,
        help=f"{way.help}\n\n{way.order}\n\n"
        f"The rows are those of zscope metrics {way.metric}, and so are the options."
        f"\n\n\b\nExamples:\n  zscope {name}\n"
        f"  zscope {name} --columns\n  zscope {name} -o {name}.csv",
    )
