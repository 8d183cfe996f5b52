"""Write synthetic dumps and reports with known answers."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from zscope.app.output.target import STANDARD_OUTPUT, open_target
from zscope.app.reading import distinct_outputs
from zscope.app.systems import systems as other_systems
from zscope.app.world import world
from zscope.parsers.synthetic import (
    DAMAGES,
    FRAMINGS,
    PACKINGS,
    PRESETS,
    Kind,
    Recipe,
    RecipeError,
    generate,
    named_systems,
)
from zscope.parsers.synthetic.recipe import YEARS

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "KI": 2**10, "MI": 2**20, "GI": 2**30}


def size(text: str) -> int:
    """A number of bytes with an optional unit.

    >>> size("50MB"), size("1.5 KiB")
    (50000000, 1536)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?([KMG]?I?)B?", text.upper())
    if match is None or match[2] not in _UNITS:
        raise click.BadParameter(f"{text!r} is no size; write 500000, 50MB or 2GiB")
    return int(float(match[1]) * _UNITS[match[2]])


def names(text: str) -> tuple[str, ...]:
    """Names separated by commas."""
    found = tuple(name.strip() for name in text.split(",") if name.strip())
    if not found:
        raise click.BadParameter("name at least one")
    return found


def mix(text: str) -> dict[str, float]:
    """Kinds of records with their shares; a kind without a share has the share 1.

    >>> mix("zert-detail=3,tcp-term")
    {'zert-detail': 3.0, 'tcp-term': 1.0}
    """
    shares = {}
    for part in text.split(","):
        kind, _, share = (piece.strip() for piece in part.partition("="))
        if kind not in set(Kind):
            raise click.BadParameter(f"{kind!r} is none of {', '.join(Kind)}")
        try:
            shares[kind] = float(share or 1)
        except ValueError as error:
            raise click.BadParameter(f"{share!r} is no share of {kind}") from error
    return shares


def moment(text: str) -> datetime:
    """A point in time; without a zone it is meant in UTC."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is no time such as 2026-03-02T08:00") from error
    if not YEARS[0] <= found.year <= YEARS[1]:
        raise click.BadParameter(f"{text!r}: the dates in records go from {YEARS[0]} to {YEARS[1]}")
    return found if found.tzinfo else found.replace(tzinfo=UTC)


@click.group(invoke_without_command=True)
@click.option(
    "-o", "--output", "target", metavar="FILE", help="Where to write; - is standard output. Needed."
)
@click.option(
    "--preset", type=click.Choice(sorted(PRESETS)), help="Begin with this recipe; the others change it."
)
@click.option(
    "--records", "-n", metavar="N", type=click.IntRange(min=1), help="How many records. Default: 10000."
)
@click.option(
    "--size", "size_bytes", metavar="SIZE", type=size, help="How many bytes instead, such as 50MB or 2GiB."
)
@click.option(
    "--seed", metavar="N", type=click.IntRange(min=0), help="The same seed gives the same bytes. Default: 1."
)
@click.option(
    "--mix", metavar="KIND=SHARE,...", type=mix,
    help=f"Which kinds of records and how much of each. Kinds: {', '.join(Kind)}. Default: all of them.",
)  # fmt: skip
@click.option("--systems", metavar="A,B", type=names, help="SMF names of the systems. Default: SYSA,SYSB.")
@click.option("--start", metavar="TIME", type=moment, help="Begin of the span, UTC unless a zone is given.")
@click.option("--end", metavar="TIME", type=moment, help="End of the span. Default: a day after the start.")
@click.option(
    "--interval",
    "interval_minutes",
    metavar="MINUTES",
    type=click.IntRange(1, 60),
    help="RMF interval. Default: 15.",
)
@click.option(
    "--resumed", metavar="SHARE", type=click.FloatRange(0, 1, max_open=True),
    help="Share of TLS connections that resume a session. Default: 0.55.",
)  # fmt: skip
@click.option(
    "--tls13/--no-tls13", default=None,
    help="Whether systems of level 3.2 use TLSv1.3 and report failed handshakes. Default: they do.",
)  # fmt: skip
@click.option("--framing", type=click.Choice(FRAMINGS), help="How records follow each other. Default: rdw.")
@click.option(
    "--block-size",
    metavar="BYTES",
    type=int,
    help="Longest block or segment. Default: 27998; 1024 for segments, 65536 for bdw-extended.",
)
@click.option("--packing", type=click.Choice(PACKINGS), help="What the dump is packed with. Default: none.")
@click.option(
    "--extra", "section_extra", metavar="BYTES", type=click.IntRange(0, 1000),
    help="Filler behind the known end of every section, as releases write that nobody documented.",
)  # fmt: skip
@click.option(
    "--damage", metavar="KIND,...", type=names, help=f"Damage done on purpose. Kinds: {', '.join(DAMAGES)}."
)
@click.option("--manifest", metavar="FILE", help="Write the known answers to FILE, as JSON.")
@click.option(
    "--reports", metavar="FOLDER",
    help="Also write reports into FOLDER, about the same systems, times and connections: RMF text and XML, "
    "NETSTAT sessions, a SYSLOG with NETSTAT and GSKSRVR displays.",
)  # fmt: skip
@click.pass_context
def command(
    context: click.Context,
    /,
    target: str | None,
    manifest: str | None,
    reports: str | None,
    preset: str | None,
    systems: tuple[str, ...] | None,
    **shape: Any,  # noqa: ANN401 - the fields of a recipe
) -> None:
    """Write synthetic dumps and reports with known answers.

    A dump is realistic in form and free of real data: names, addresses and certificates are made up. The
    manifest says what a reader has to find in it: records, rows, versions, ciphers, handshakes, damage. The
    same options give the same bytes.

    \b
    Examples:
      zscope generate -o test.smf --records 50000 --manifest test.json
      zscope generate -o big.smf.gz --preset mixed --size 2GB --packing gzip --seed 7
      zscope generate -o day.smf --records 50000 --reports captured/
      zscope generate -o bad.smf --damage mid-garbage,truncated --mix zert-detail=3,tcp-term=1
      zscope generate world small --days 1
      zscope generate systems others
    """
    if context.invoked_subcommand is not None:
        _nothing_said(context)
        return
    if target is None:
        raise click.UsageError("Missing option '-o' / '--output': say where to write the dump")
    if target == STANDARD_OUTPUT and sys.stdout.isatty():
        raise click.UsageError(
            "records are not for a terminal: name a file with -o or send them to a program"
        )
    distinct_outputs(target, manifest, "--manifest")
    if reports and target == STANDARD_OUTPUT:
        raise click.UsageError("--reports needs the dump as a file: name it with -o")
    given = {name: value for name, value in shape.items() if value is not None}
    if systems:
        given["systems"] = named_systems(*systems)
    if "records" in given:
        given.setdefault("size_bytes", None)
    try:
        recipe = replace(PRESETS[preset]() if preset else Recipe(), **given)
        with open_target(target) as out:
            made = generate(recipe, out)
    except RecipeError as error:
        raise click.UsageError(str(error)) from error
    if manifest:
        with open_target(manifest) as out:
            out.write(made.to_json().encode())
    click.echo(
        f"{target}: {made.records:,} records, {made.file_bytes:,} bytes, sha256 {made.sha256}", err=True
    )
    if reports:
        _write_reports(Path(target), Path(reports), recipe)


def _write_reports(dump: Path, folder: Path, recipe: Recipe) -> None:
    from zscope.parsers.synthetic.reports import report_files

    folder.mkdir(parents=True, exist_ok=True)
    for file in report_files(dump, recipe):
        with open_target(str(folder / file.name)) as out:
            out.write(file.content)
        click.echo(f"{folder / file.name}: {file.what}, {len(file.content):,} bytes", err=True)


def _nothing_said(context: click.Context) -> None:
    """The options of dumps are not those of the command below."""
    if any(context.get_parameter_source(name) is ParameterSource.COMMANDLINE for name in context.params):
        raise click.UsageError(
            f"{context.invoked_subcommand} has options of its own: put them behind it, such as "
            f"zscope generate {context.invoked_subcommand} FOLDER --seed 1"
        )


command.add_command(world)
command.add_command(other_systems)
