"""Generate synthetic dumps and reports with known contents."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from zscope.app.cli.exits import NothingDoneError, print_message
from zscope.app.cli.input_options import distinct_outputs
from zscope.app.cli.output.output_options import STANDARD_OUTPUT, open_target
from zscope.samples import (
    DAMAGES,
    FRAMINGS,
    PACKINGS,
    PRESETS,
    Recipe,
    RecipeError,
    RecordKind,
    generate,
    named_systems,
)
from zscope.samples.dump.recipe import YEARS

if TYPE_CHECKING:
    from zscope.samples.world import CostModel

MANIFEST = "manifest.json"
RUN_CHOICES = ("all", "few", "none")
RECORDINGS = ("connections", "counts")
WORLD_PACKINGS = ("none", "gzip")
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "KI": 2**10, "MI": 2**20, "GI": 2**30}


def size(text: str) -> int:
    """Parse a number of bytes with an optional unit.

    >>> size("50MB"), size("1.5 KiB")
    (50000000, 1536)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?([KMG]?I?)B?", text.upper())
    if match is None or match[2] not in _UNITS:
        raise click.BadParameter(f"{text!r} is not a size such as 500000, 50MB or 2GiB")
    return int(float(match[1]) * _UNITS[match[2]])


def names(text: str) -> tuple[str, ...]:
    """Parse names separated by commas."""
    values = tuple(name.strip() for name in text.split(",") if name.strip())
    if not values:
        raise click.BadParameter("give at least one name")
    return values


def mix(text: str) -> dict[str, float]:
    """Parse kinds of records with their shares; the default share is 1.

    >>> mix("zert-detail=3,tcp-term")
    {'zert-detail': 3.0, 'tcp-term': 1.0}
    """
    shares = {}
    for part in text.split(","):
        kind, _, share = (piece.strip() for piece in part.partition("="))
        if kind not in set(RecordKind):
            raise click.BadParameter(f"{kind!r} is not one of {', '.join(RecordKind)}")
        try:
            shares[kind] = float(share or 1)
        except ValueError as error:
            raise click.BadParameter(f"{share!r} is not a number (share of {kind})") from error
    return shares


def moment(text: str) -> datetime:
    """Parse a point in time; UTC unless it has an offset."""
    try:
        value = datetime.fromisoformat(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is not a date or a time such as 2026-03-02T08:00") from error
    if not YEARS[0] <= value.year <= YEARS[1]:
        raise click.BadParameter(f"{text!r}: the year must be between {YEARS[0]} and {YEARS[1]}")
    return value if value.tzinfo else value.replace(tzinfo=UTC)


@click.group(invoke_without_command=True)
@click.option(
    "-o", "--output", "target", metavar="FILE", help="File to write; - is standard output. Required."
)
@click.option(
    "--preset", type=click.Choice(sorted(PRESETS)), help="Preset to start with; other options override it."
)
@click.option(
    "--records", "-n", metavar="N", type=click.IntRange(min=1), help="Number of records. Default: 10000."
)
@click.option(
    "--size",
    "size_bytes",
    metavar="SIZE",
    type=size,
    help="Number of bytes instead of records, such as 50MB or 2GiB.",
)
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(min=0),
    help="Seed; the same seed gives the same bytes. Default: 1.",
)
@click.option(
    "--mix", metavar="KIND=SHARE,...", type=mix,
    help=f"Kinds of records and their shares. Kinds: {', '.join(RecordKind)}. Default: all.",
)  # fmt: skip
@click.option("--systems", metavar="A,B", type=names, help="SMF names of the systems. Default: SYSA,SYSB.")
@click.option(
    "--start", metavar="TIME", type=moment, help="Time of the first record; UTC unless it has an offset."
)
@click.option(
    "--end", metavar="TIME", type=moment, help="Time of the last record. Default: one day after the start."
)
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
    help="Whether systems of z/OS 3.2 use TLSv1.3 and record failed handshakes. Default: yes.",
)  # fmt: skip
@click.option("--framing", type=click.Choice(FRAMINGS), help="Framing of the records. Default: rdw.")
@click.option(
    "--block-size",
    metavar="BYTES",
    type=int,
    help="Maximum length of a block or segment. Default: 27998; 1024 for segments, 65536 for bdw-extended.",
)
@click.option("--packing", type=click.Choice(PACKINGS), help="Packing of the dump. Default: none.")
@click.option(
    "--extra", "section_extra", metavar="BYTES", type=click.IntRange(0, 1000),
    help="Bytes to add after the documented end of every section, as undocumented releases do.",
)  # fmt: skip
@click.option(
    "--damage", metavar="KIND,...", type=names, help=f"Damage to insert. Kinds: {', '.join(DAMAGES)}."
)
@click.option("--manifest", metavar="FILE", help="Write the contents of the dump to FILE, as JSON.")
@click.option(
    "--reports", metavar="FOLDER",
    help="Also write reports of the same systems, times and connections to FOLDER: RMF text and XML, NETSTAT "
    "displays, a SYSLOG with NETSTAT and GSKSRVR displays.",
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
    """Generate synthetic dumps and reports with known contents.

    A dump has the form of a real one, but names, addresses and certificates are invented. The manifest lists
    what a reader must return: records, rows, versions, ciphers, handshakes and damage. The same options give
    the same bytes.

    \b
    Examples:
      zscope generate -o test.smf --records 50000 --manifest test.json
      zscope generate -o big.smf.gz --preset mixed --size 2GB --packing gzip --seed 7
      zscope generate -o day.smf --records 50000 --reports captured/
      zscope generate -o bad.smf --damage mid-garbage,truncated --mix zert-detail=3,tcp-term=1
      zscope generate world small --days 1
      zscope generate systems others
      zscope generate losses lost.smf
      zscope generate sample sample-data
    """
    if context.invoked_subcommand is not None:
        _no_dump_options(context)
        return
    if target is None:
        raise click.UsageError("Missing option '-o' / '--output': name the file to write")
    if target == STANDARD_OUTPUT and sys.stdout.isatty():
        raise click.UsageError(
            "records cannot be shown on a terminal: write them to a file with -o or pipe them to a program"
        )
    distinct_outputs(target, manifest, "--manifest")
    if reports and target == STANDARD_OUTPUT:
        raise click.UsageError("--reports needs a file: name it with -o")
    given = {name: value for name, value in shape.items() if value is not None}
    if systems:
        given["systems"] = named_systems(*systems)
    if "records" in given:
        given.setdefault("size_bytes", None)
    try:
        recipe = replace(PRESETS[preset]() if preset else Recipe(), **given)
        with open_target(target) as out:
            contents = generate(recipe, out)
    except RecipeError as error:
        raise click.UsageError(str(error)) from error
    if manifest:
        with open_target(manifest) as out:
            out.write(contents.to_json().encode())
    click.echo(
        f"{target}: {contents.records:,} records, {contents.file_bytes:,} bytes, sha256 {contents.sha256}",
        err=True,
    )
    if reports:
        _write_reports(Path(target), Path(reports), recipe)


def _write_reports(dump: Path, folder: Path, recipe: Recipe) -> None:
    from zscope.samples.reports import report_files

    folder.mkdir(parents=True, exist_ok=True)
    for file in report_files(dump, recipe):
        with open_target(str(folder / file.name)) as out:
            out.write(file.content)
        click.echo(f"{folder / file.name}: {file.what}, {len(file.content):,} bytes", err=True)


def _no_dump_options(context: click.Context) -> None:
    """Raise an error for options of a dump in front of a subcommand."""
    if any(context.get_parameter_source(name) is ParameterSource.COMMANDLINE for name in context.params):
        raise click.UsageError(
            f"write the options after {context.invoked_subcommand}, such as "
            f"zscope generate {context.invoked_subcommand} FOLDER --seed 1"
        )


@command.command("world")
@click.argument("folder", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path))
@click.option("--days", metavar="N", type=click.IntRange(1, 366), help="Number of days. Default: 7.")
@click.option(
    "--start", metavar="TIME", type=moment,
    help="Start; a date is midnight UTC. 2026-03-08T23:00Z is midnight in local time of the systems. "
    "Default: 2026-03-09.",
)  # fmt: skip
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(min=0),
    help="Seed; the same seed gives the same bytes. Default: 1.",
)
@click.option(
    "--connections-per-hour", metavar="N", type=click.IntRange(4, 1_000_000),
    help="Average number of connections per hour of a working day, in total. Default: 240.",
)  # fmt: skip
@click.option(
    "--recording", type=click.Choice(RECORDINGS),
    help="connections: each connection has SMF records at both ends. counts: stacks, zERT summaries and "
    "session caches count connections, and only a quarter of an hour has records of them. Default: "
    "connections.",
)  # fmt: skip
@click.option(
    "--runs",
    type=click.Choice(RUN_CHOICES),
    help="Benchmark runs to include, in the nights after the traffic. Default: all.",
)
@click.option(
    "--runs-from", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Runs of a TOML file in place of the usual ones: blocks [[run]] with name, workload and tags, and "
    "with factors on the CPU time; docs/benchmarks.md describes the keys.",
)  # fmt: skip
@click.option(
    "--run-minutes",
    metavar="N",
    type=click.IntRange(5, 20),
    help="Length of each benchmark run in minutes. Default: 12.",
)
@click.option(
    "--cost", "costs", metavar="FILE|NAME=US,...", multiple=True,
    help="Costs that differ from the defaults: a TOML file, or values such as full_us=400,noise=0.02. Can "
    "be repeated.",
)  # fmt: skip
@click.option(
    "--resumed-share", metavar="SHARE", type=click.FloatRange(0.2, 0.8),
    help="Mean share of resumed handshakes, which varies from interval to interval. Default: 0.5.",
)  # fmt: skip
@click.option(
    "--correlated",
    is_flag=True,
    default=None,
    help="Follow each full handshake by exactly one resumed one, so that their costs cannot be separated.",
)
@click.option("--packing", type=click.Choice(WORLD_PACKINGS), help="Packing of the dumps. Default: none.")
def world_command(
    folder: Path,
    *,
    costs: tuple[str, ...],
    runs_from: Path | None,
    **shape: Any,  # noqa: ANN401 - fields of a recipe
) -> None:
    """Generate a synthetic world: several systems over days, with benchmark runs and known contents.

    Two clients call two servers behind a distributor. Writes SMF dumps of each system, RMF reports, NETSTAT
    and GSKSRVR displays that agree with each other, a list of benchmark runs, transaction counts, and a
    manifest with the cost model of the CPU time and all contents. FOLDER is created; an earlier world in it
    is replaced.

    \b
    Examples:
      zscope generate world world
      zscope generate world small --days 1 --connections-per-hour 40 --run-minutes 8 --packing gzip
      zscope generate world week --connections-per-hour 36000 --recording counts --packing gzip
      zscope generate world cheap --cost full_us=150,resumed_us=60 --seed 3
      zscope generate world planned --days 1 --runs-from pair.toml
      zscope ingest world --timezone +01:00
    """
    from zscope.samples.world import RecipeError, WorldRecipe, read_planned_runs, write_world
    from zscope.schemas.declared import TomlFile
    from zscope.schemas.errors import DeclarationError

    given = {name: value for name, value in shape.items() if value is not None}
    try:
        planned = read_planned_runs(TomlFile.read(runs_from, str(runs_from))) if runs_from else ()
        recipe = WorldRecipe(cost=_model(costs), planned=planned, **given)
        make_room(folder, "world", "cost_model")
        manifest = write_world(recipe, folder, print_message)
    except (RecipeError, DeclarationError) as error:
        raise click.UsageError(str(error)) from error
    records = sum(manifest["records_by_type"].values())
    click.echo(f"{folder}: {records:,} records of {len(manifest['systems'])} systems", err=True)


def _model(costs: tuple[str, ...]) -> CostModel:
    from zscope.samples.world import CostModel, read_costs

    model = CostModel()
    for text in costs:
        model = model.changed(read_costs(text))
    return model


@command.command("systems")
@click.argument("folder", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--seed", metavar="N", type=click.IntRange(min=0), default=1, show_default=True,
    help="Seed; the same seed gives the same bytes.",
)  # fmt: skip
def systems_command(folder: Path, *, seed: int) -> None:
    """Generate synthetic data of MQ channels, of a z/VM link and of floods on z/TPF.

    Writes SMF 115 and 116 records of a queue manager, the output of the public MQ formatter, round trips as
    an application would measure them, listings of Performance Toolkit, time series of floods, a list of the
    runs, and a manifest. The figures follow the published ones. FOLDER is created; earlier data of this kind
    in it is replaced.

    \b
    Examples:
      zscope generate systems systems
      zscope ingest systems --timezone +01:00
      zscope runs import systems/runs.toml
    """
    from zscope.samples.systems.systems_folder import write_systems

    make_room(folder, "sample of other systems", "systems")
    manifest = write_systems(seed, folder, print_message)
    click.echo(f"{folder}: {len(manifest['files'])} files of {len(manifest['systems'])} systems", err=True)


@command.command("losses")
@click.argument("target", metavar="FILE")
def losses_command(target: str) -> None:
    """Generate a small synthetic dump of a day in which SMF lost all records of three hours.

    System SYSL has records of connections and of RMF, a record of type 7 about the loss, and records of type
    23 about the buffers of SMF. Its clock is UTC. FILE - is standard output.

    \b
    Examples:
      zscope generate losses lost.smf
      zscope ingest lost.smf --store losses --timezone UTC
      zscope coverage --store losses
    """
    from zscope.samples.dump.lost_hours import dump_with_lost_hours

    if target == STANDARD_OUTPUT and sys.stdout.isatty():
        raise click.UsageError(
            "records cannot be shown on a terminal: name a file, or pipe them to a program"
        )
    content = dump_with_lost_hours()
    with open_target(target) as out:
        out.write(content)
    click.echo(f"{target}: {len(content):,} bytes of system SYSL, three hours are lost", err=True)


@command.command("sample")
@click.argument("folder", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path))
def sample_command(folder: Path) -> None:
    """Generate the synthetic data of which the documents and the demo have their examples.

    Writes the dump smf-sample.bin with its manifest, and the folders reports, world and systems: the same
    files as in `sample-data` of a checkout. FOLDER has to be empty or new.

    \b
    Examples:
      zscope generate sample sample-data
      zscope ingest sample-data --timezone +01:00
    """
    from zscope.samples.sample_folder import write_sample_folder

    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise NothingDoneError(f"{folder} contains files: name an empty or new folder")
    write_sample_folder(folder, print_message)


def make_room(folder: Path, what: str, mark: str) -> None:
    """Create a folder, or remove the files that an earlier run generated in it, and nothing else.

    `mark` is a key in the manifest of data of this kind.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        return
    files = _generated_files(folder, mark)
    if not files:
        raise NothingDoneError(
            f"{folder} contains files that are not a generated {what}: name an empty or new folder"
        )
    for file in [*files, Path(MANIFEST)]:
        (folder / file).unlink(missing_ok=True)


def _generated_files(folder: Path, mark: str) -> list[Path]:
    """Return the files that the manifest in a folder lists; none if it is another manifest."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        names = manifest["files"] if manifest[mark] else {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []
    if not isinstance(names, dict):
        return []
    files = [Path(name) for name in names]
    unsafe = (file.is_absolute() or ".." in file.parts or (folder / file).is_dir() for file in files)
    return [] if any(unsafe) else files
