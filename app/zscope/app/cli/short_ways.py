"""Short ways to metrics: commands such as `zscope price`, with the options of `zscope metrics`."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import NamedTuple

import click


class ShortWay(NamedTuple):
    """A command for a metric."""

    metric: str
    help: str
    """First line of its help."""
    order: str = ""
    """How its rows are sorted, and what they mean."""
    without: frozenset[str] = frozenset()
    """The options of `zscope metrics` that change no column of the metric, by the names of arguments."""
    options: Mapping[str, str] = {}
    """Helps of options that say here something else, by the names of their arguments."""
    examples: tuple[str, ...] = ()
    """More examples."""


_NO_TIME = frozenset({"by", "begin", "end", "price_per_msu"})
SHORT_WAYS = {
    "price": ShortWay(
        "tls_price",
        "Print what TLS costs: CPU seconds a day, with range and status.",
        "A system with SMF 30 intervals of its address spaces has a narrower range than one without, which "
        "does not make it cheaper. Working days and weekends count in a day as a week has them, so the days "
        "of --by day have another mean, unless they are whole weeks.",
        options={
            "by": "Print the total of each job_name, server_port, rule_name or client_network on each "
            "system, the share of each key_exchange or handshake_role, or the cost of each local day or "
            "week.",
            "begin": "Print the cost of each local day from this one on, such as 2026-03-02 or 2026.061.",
            "end": "Print the cost of each local day up to this one.",
        },
        examples=("--by job_name", "--by week"),
        without=frozenset({"with_runs"}),
    ),
    "advice": ShortWay(
        "tls_advice",
        "Print what a change of the AT-TLS policy would save, with range and status.",
        "A saving is CPU seconds on a mean day of the last seven days with zERT details. First come changes "
        "that name a setting (names_setting), of these the ones of which the data show it (is_seen), then "
        "changes of clients and applications, and what may have been made already; last what saves less than "
        "1 % of the TLS CPU cost, and what the data are not enough for. Never add savings: changes overlap.",
        without=_NO_TIME,
    ),
    "certificates": ShortWay(
        "certificate_inventory",
        "Print the certificates that were seen, with their end and who uses them.",
        without=_NO_TIME | {"systems", "with_runs"},
    ),
}
"""The commands, each with its metric."""


def short_command(name: str) -> click.Command:
    """Return the command of a short way: `zscope metrics` with the name of the metric."""
    from zscope.app.cli.commands import metrics

    way = SHORT_WAYS[name]

    def run(**options: object) -> object:
        assert metrics.command.callback is not None, "a command has a function"
        return metrics.command.callback(name=way.metric, **options)

    params = [each for each in metrics.command.params if each.name not in {"name", *way.without}]
    examples = "\n".join(
        f"  zscope {name} {words}".rstrip() for words in ("", *way.examples, "--columns", f"-o {name}.csv")
    )
    return click.Command(
        name,
        params=[_with_help(each, way.options.get(str(each.name), "")) for each in params],
        callback=run,
        context_settings={"obj": way.metric},
        help=f"{way.help}\n\n{way.order}\n\n"
        f"The rows are those of zscope metrics {way.metric}."
        f"\n\n\b\nExamples:\n{examples}",
    )


def _with_help(parameter: click.Parameter, text: str) -> click.Parameter:
    """Return an option with another help; the option of `zscope metrics` keeps its own."""
    if not text:
        return parameter
    changed = copy(parameter)
    assert isinstance(changed, click.Option), "arguments have no help"
    changed.help = text
    return changed
