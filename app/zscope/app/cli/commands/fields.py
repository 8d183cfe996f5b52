"""Search the names of fields, tables, metrics, parameters and checks."""

from __future__ import annotations

import click

from zscope.app.cli.output import Output, Rows, row_options

ESSENTIAL = ("table_name", "column_name", "meaning", "vendor_name")


@click.command()
@click.argument("words", metavar="[PATTERN]...", nargs=-1)
@row_options
def command(words: tuple[str, ...], output: Output) -> None:
    """Search fields, tables, metrics, parameters and checks by name, IBM's name or meaning.

    PATTERN is one or more words. A row matches if every word occurs in one of its names, its table or its
    meaning; a word with the wildcards *, ? or [ must match a whole name. Upper and lower case are the same.
    A name that is the word comes first, then the columns of a table of this name, then names that have it as
    a word, then names that contain it, then fields with it in their meaning. Meanings of other rows are
    searched if no name matches.

    The column record has the record or report of a field, or what else a row is: table, metric, parameter
    (zscope metrics --set), check (zscope check) or expectation (zscope validate).
    Without PATTERN all fields are listed, including those that have no column.

    \b
    Examples:
      zscope fields cipher
      zscope fields handshake failed
      zscope fields full_handshakes
      zscope fields 'SMF119SC_TLS_*' --format csv
      zscope fields smf70_cpu -o fields.parquet
    """
    wanted = [word for text in words for word in text.split()]
    if wanted:
        from zscope.app.shared.names import search_names

        matches = search_names(wanted)
    else:
        from zscope.schemas.field_catalog import field_catalog

        matches = field_catalog()
    output.write(Rows.of(matches, ESSENTIAL))
    if not matches.num_rows:
        click.echo(f"no name matches {' '.join(words)!r}; try fewer or shorter words", err=True)
