"""Play through a model of a system."""

from __future__ import annotations

import click

from zscope.app.flood import flood


@click.group()
def command() -> None:
    """Play through a model of a system, such as a flood of TLS sessions on z/TPF.

    What comes out is a model and no measurement, and every row says so.

    \b
    Examples:
      zscope model flood
      zscope model flood --series -o curves.csv
    """


command.add_command(flood)
