"""Short ways to metrics: commands such as `zscope price`, with the options of `zscope metrics`."""

from __future__ import annotations

from typing import NamedTuple

import click


class ShortWay(NamedTuple):
    """A command for a metric."""

    metric: str
    help: str
    """First line of its help."""
    answer: tuple[str, ...]
    """Columns that a terminal shows first."""


SHORT_WAYS = {
    "price": ShortWay(
        "tls_price",
        "Print what TLS costs: CPU seconds a day, with range and status.",
        ("system", "status", "cpu_s_per_day", "low_cpu_s_per_day", "high_cpu_s_per_day", "high_lpar_pct"),
    ),
    "advice": ShortWay(
        "tls_advice",
        "Print what a change of the AT-TLS policy would save, with range and status.",
        (
            "system", "rule_name", "change", "status", "saving_s_per_day", "saving_low_s_per_day",
            "saving_high_s_per_day", "is_seen",
        ),
    ),
    "certificates": ShortWay(
        "certificate_inventory",
        "Print the certificates that were seen, with their end and who uses them.",
        ("subject_dn", "not_after_utc", "days_left", "expiry", "systems", "server_ports", "job_names"),
    ),
}  # fmt: skip
"""The commands, each with its metric."""


def short_command(name: str) -> click.Command:
    """Return the command of a short way: `zscope metrics` with the name of the metric."""
    from zscope.app.cli.commands import metrics

    way = SHORT_WAYS[name]

    hidden = {"name"} if way.metric == "tls_price" else {"name", "price_per_msu"}

    def run(**options: object) -> object:
        assert metrics.command.callback is not None, "a command has a function"
        return metrics.command.callback(name=way.metric, answer=way.answer, **options)

    return click.Command(
        name,
        params=[each for each in metrics.command.params if each.name not in hidden],
        callback=run,
        help=f"{way.help}\n\nThe rows are those of zscope metrics {way.metric}, and so are the options. A "
        f"terminal shows other columns first: {', '.join(way.answer)}.\n\n\b\nExamples:\n  zscope {name}\n"
        f"  zscope {name} --columns\n  zscope {name} -o {name}.csv",
    )
