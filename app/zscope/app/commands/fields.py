"""Search the field catalogue."""

from __future__ import annotations

import click

from zscope.app.output import Output, Rows, row_options

ESSENTIAL = ("table_name", "column_name", "meaning", "vendor_name")


@click.command()
@click.argument("words", metavar="[PATTERN]...", nargs=-1)
@row_options
def command(words: tuple[str, ...], output: Output) -> None:
    """Search the field catalogue by our name, IBM's name or meaning.

    PATTERN is one or several words; rows that hold all of them in a name, a table or the meaning are shown.
    With *, ? or [ a word stands for a whole name. Upper and lower case are the same. Without PATTERN all
    fields are shown, those that became no column included.

    \b
    Examples:
      zscope fields cipher
      zscope fields handshake failed
      zscope fields 'SMF119SC_TLS_*' --format csv
      zscope fields smf70_cpu -o fields.parquet
    """
    from zscope.schemas.field_catalog import search

    found = search([word for text in words for word in text.split()])
    output.write(Rows.of(found, ESSENTIAL))
    if not found.num_rows:
        click.echo(f"no field matches {' '.join(words)!r}; try fewer or shorter words", err=True)
