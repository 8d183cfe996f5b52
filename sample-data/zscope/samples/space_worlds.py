"""Kinds of worlds in which applications work for connections, as `space_worlds.toml` declares them.

A kind has the parameters of a world, and what an estimate of it has to reach.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.samples.cost_truth import FULL_US
from zscope.samples.declaration_files import declared_file
from zscope.schemas.declared import Declared, WrongValueError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zscope.schemas.declared import TomlFile

OfJobs = tuple[float, float, float]
"""A number for each of the three jobs with TLS."""
HOURS_OF_DAY = 24


class SpaceWorld(Declared, frozen=True):
    """The parameters of a world.

    Sizes of noise and of other work are in standard deviations of the CPU time of TLS.
    """

    days: int = 14
    persistence: float = 0.8
    """Autocorrelation of loads and noise from interval to interval."""
    rate: float = 40.0
    """Connections with TLS per second."""
    full_us: float = FULL_US
    relative_full: OfJobs = (1.0, 1.0, 1.0)
    """What a full handshake costs by job, as a ratio to `full_us`."""
    costs_follow_load: float = 0.0
    """How much the costs of TLS grow with each standard deviation of the logarithm of the load."""
    in_stack: float = 1.0
    """Share of the handshakes' CPU time that is charged to the stack."""
    common_in_stack: float | None = None
    """Share of what a full handshake and a resumed one have in common that is charged to the stack, if it is
    not that of the work with the private key."""
    bytes_in_stack: float = 1.0
    work_us: OfJobs = (0.0, 0.0, 0.0)
    """What an application does for a connection, by job."""
    work_of_mb_us: float = 0.0
    work_of_new_client_us: float = 0.0
    """Work for a new client, who has a full handshake."""
    work_varies: float = 0.1
    """Standard deviation of the work of applications for the same connections, as a share of it."""
    work_follows_clock: float = 0.0
    """How much it grows with each standard deviation of the daily curve."""
    plain: OfJobs = (0.3, 0.0, 0.0)
    """Connections without TLS by job, as a ratio to those with TLS."""
    plain_work: float = 1.0
    """Work for a connection without TLS, as a ratio to the work for one with TLS."""
    plain_follows: float = 0.5
    """Correlation of the random load without TLS with that of TLS."""
    others_rate: float = 15.0
    """Connections per second of jobs that have no TLS."""
    mean_logit: float = 0.4
    """Mean logit of the resumed share: 0.4 is 57 %, 1.2 is 75 %."""
    mix_sd: float = 0.5
    mix_follows_load: float = 0.0
    noise: float = 1.0
    stack_noise: float = 0.1
    jobs_noise: float = 0.1
    other: float = 1.0
    """Size of other work outside, of which `inside` is the share in the jobs with TLS."""
    other_follows: float = 0.0
    """Correlation of that work with the random load of TLS."""
    other_follows_clock: float = 0.0
    """Size of the part of that work that has the daily curve of TLS, and is less at weekends."""
    inside: float = 0.0
    shifts: int = 0
    """Shifts of the level of the work without TLS."""
    batch: float = 0.0
    """Size of a batch window in most nights."""
    spikes: float = 0.0
    """Share of the intervals with spikes."""
    limit: float = 1.0
    """Quantile of the CPU time of the LPAR at which it has its limit."""
    traffic: float = 0.0
    """Size of the stack's work for datagrams that belong to no connection."""
    traffic_follows: float = 0.0
    traffic_known: bool = False
    clock_minutes: int = 0
    """How far the clock of the counts is ahead of that of the CPU time."""
    spaces_late_minutes: int = 0
    """How much later than those of the LPAR the intervals of the address spaces begin."""
    lost_hours: tuple[tuple[int, int], ...] = ()
    """The first hour without counts and the next one with counts, since the start."""
    lost_share: float = 0.0
    """Share of the intervals whose counts are lost. A store leaves the hours of these intervals out."""
    halved_hours: tuple[tuple[int, int], ...] = ()
    """As `lost_hours`, with half of the counts, which nothing shows."""

    def __post_init__(self) -> None:
        for key in ("lost_hours", "halved_hours"):
            for first, end in getattr(self, key):
                if not 0 <= first < end <= self.days * HOURS_OF_DAY:
                    raise WrongValueError(
                        key, f"expected hours within {self.days} days, got {first} to {end}"
                    )


class SpaceKind(SpaceWorld, frozen=True):
    """A declared world, and what an estimate of it has to reach."""

    like: str = ""
    """Another kind, which has the parameters that are not stated."""
    reference: tuple[float, float] | None = None
    """Median range of the TLS CPU cost, as shares of it, of another implementation of the method in 30
    replicates of such a world. It has the CPU time of address spaces, and connections without TLS."""
    least_held_pct: float = 95.0
    """In how many of 100 replicates a range has to contain the truth."""
    is_refused: bool = False
    """Whether nothing may be estimated."""


_OF_ITSELF = ("like", "reference", "least_held_pct", "is_refused")
"""Keys that a kind does not have from another one."""


def read_space_kinds(file: TomlFile) -> dict[str, SpaceKind]:
    """Return the kinds of a file by name, with the parameters of those that they are like."""
    stated = file.typed(dict[str, dict[str, object]])
    kinds: dict[str, SpaceKind] = {}
    merged: dict[str, dict[str, object]] = {}
    for name, own in stated.items():
        like = own.get("like", "")
        if like and like not in merged:
            raise file.error((name, "like"), f"expected the name of a kind before it, got {like}")
        others = {key: value for key, value in merged.get(str(like), {}).items() if key not in _OF_ITSELF}
        merged[name] = others | own
        kinds[name] = file.typed(SpaceKind, merged[name], (name,))
    return kinds


SPACE_WORLDS: Mapping[str, SpaceKind] = read_space_kinds(declared_file("space_worlds.toml"))
