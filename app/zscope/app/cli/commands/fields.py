"""Search the field catalogue."""

from __future__ import annotations

import click

from zscope.app.cli.output import Output, Rows, row_options

ESSENTIAL = ("table_name", "column_name", "meaning", "vendor_name")


@click.command()
@click.argument("words", metavar="[PATTERN]...", nargs=-1)
@row_options
def command(words: tuple[str, ...], output: Output) -> None:
    """Search the field catalogue by zscope's name, IBM's name or meaning.

    PATTERN is one or more words. A field matches if every word occurs in one of its names, its table or its
    meaning; a word with the wildcards *, ? or [ must match a whole name. Upper and lower case are the same.
    Without PATTERN all fields are listed, including those that have no column.

    \b
    Examples:
      zscope fields cipher
      zscope fields handshake failed
      zscope fields 'SMF119SC_TLS_*' --format csv
      zscope fields smf70_cpu -o fields.parquet
    """
    from zscope.schemas.field_catalog import search

    matches = search([word for text in words for word in text.split()])
    output.write(Rows.of(matches, ESSENTIAL))
    if not matches.num_rows:
        click.echo(f"no field matches {' '.join(words)!r}; try fewer or shorter words", err=True)
