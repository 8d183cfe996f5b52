"""Worlds in which applications work for connections: their declarations, and what is simulated."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from zscope.samples.cost_truth import FULL_US, MB_US, RESUMED_US
from zscope.samples.simulated_series import DAY, Series, autoregressive, disturbances
from zscope.samples.space_truth import space_intervals
from zscope.samples.space_worlds import SPACE_WORLDS, SpaceWorld, read_space_kinds
from zscope.schemas.declared import TomlFile
from zscope.schemas.errors import DeclarationError

SEED = 3
HOUR = DAY // 24
SET_UP_US, PLAIN_MB_US = 80.0, 500.0
COUNTS = ("full_handshakes", "resumed_handshakes", "tls_mb", "plain_connections", "plain_mb")
QUIET = SpaceWorld(noise=0, stack_noise=0, jobs_noise=0, other=0, work_varies=0)
"""All CPU time is that of connections, and constant parts."""


def changed(world: SpaceWorld, **changes: object) -> SpaceWorld:
    return msgspec.structs.replace(world, **changes)


def columns(world: SpaceWorld) -> dict[str, Series]:
    return space_intervals(world, SEED).columns


def costs(world: SpaceWorld, space: str) -> list[float]:
    """What a full and a resumed handshake, a megabyte, and a connection and a megabyte without TLS cost."""
    of = columns(world)
    cpu_s = {"stack": of["stack_cpu_s"], "jobs": of["tls_spaces_cpu_s"] - of["stack_cpu_s"]}[space]
    counts = np.column_stack([*(of[name] for name in COUNTS), of["seconds"]])
    solved, _, _, _ = np.linalg.lstsq(counts, 1e6 * cpu_s, rcond=None)
    return [float(cost) for cost in solved[: len(COUNTS)]]


@pytest.mark.parametrize("name", SPACE_WORLDS)
def test_each_kind_can_be_simulated_and_its_truth_adds_up(name: str) -> None:
    kind = SPACE_WORLDS[name]
    world = space_intervals(kind, SEED)
    of = world.columns
    assert sum(world.parts_s_per_day) == pytest.approx(world.tls_s_per_day)
    assert sum(world.jobs_s_per_day) == pytest.approx(world.tls_s_per_day)
    assert min(world.parts_s_per_day) > 0
    for column in of.values():
        assert column is None or len(column) == kind.days * DAY
    covered = np.isfinite(of["full_handshakes"])
    for count in COUNTS:
        assert (np.isfinite(of[count]) == covered).all()
        assert of[count][covered].min() >= 0
    assert covered.all() == (not kind.lost_hours and not kind.lost_share)
    assert (of["stack_cpu_s"] > 0).all()
    assert (of["stack_cpu_s"] < of["tls_spaces_cpu_s"]).all()
    assert kind.is_refused or (of["tls_spaces_cpu_s"] < of["cpu_s"]).all()
    assert world.tls_s_per_day < float(of["tls_spaces_cpu_s"].sum()) / kind.days


def test_a_seed_is_a_replicate() -> None:
    usual = SPACE_WORLDS["usual"]
    first, again, other = (space_intervals(usual, seed) for seed in (1, 1, 2))
    assert (first.columns["cpu_s"] == again.columns["cpu_s"]).all()
    assert first.tls_s_per_day == again.tls_s_per_day != other.tls_s_per_day


@pytest.mark.parametrize(
    ("changes", "stack", "jobs"),
    [
        ({}, (FULL_US, RESUMED_US, MB_US), (0, 0, 0)),
        ({"in_stack": 0, "bytes_in_stack": 0}, (0, 0, 0), (FULL_US, RESUMED_US, MB_US)),
        (
            {"in_stack": 0.5, "bytes_in_stack": 0.25},
            (FULL_US / 2, RESUMED_US / 2, MB_US / 4),
            (FULL_US / 2, RESUMED_US / 2, 0.75 * MB_US),
        ),
        # A full handshake has the work with the private key, and what a resumed one has as well.
        (
            {"common_in_stack": 0, "bytes_in_stack": 0},
            (FULL_US - RESUMED_US, 0, 0),
            (RESUMED_US, RESUMED_US, MB_US),
        ),
        ({"full_us": 2000.0}, (2000.0, RESUMED_US, MB_US), (0, 0, 0)),
    ],
)
def test_tls_is_charged_to_the_stack_and_to_the_callers(
    changes: dict[str, object], stack: tuple[float, ...], jobs: tuple[float, ...]
) -> None:
    set_up = [SET_UP_US, SET_UP_US, PLAIN_MB_US]
    in_stack = [*np.add(stack, set_up), SET_UP_US, PLAIN_MB_US]
    assert costs(changed(QUIET, **changes), "stack") == pytest.approx(in_stack)
    assert costs(changed(QUIET, **changes), "jobs") == pytest.approx([*jobs, 0, 0], abs=1e-3)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"work_us": (1000.0,) * 3, "plain_work": 0.6}, (1000, 1000, 0, 600, 0)),
        ({"work_of_mb_us": 500.0}, (0, 0, 500, 0, 500)),
        ({"work_of_new_client_us": 10_000.0}, (10_000, 0, 0, 0, 0)),
    ],
)
def test_applications_work_in_the_jobs(changes: dict[str, object], expected: tuple[float, ...]) -> None:
    world = changed(QUIET, others_rate=0.0, **changes)
    assert costs(world, "jobs") == pytest.approx(expected, abs=1e-3)
    idle = space_intervals(changed(QUIET, others_rate=0.0), SEED)
    assert space_intervals(world, SEED).tls_s_per_day == idle.tls_s_per_day


def test_the_work_of_applications_varies_and_follows_the_clock() -> None:
    work = changed(QUIET, work_us=(5000.0,) * 3, others_rate=0.0, plain=(0.0, 0.0, 0.0))

    def of_connection(world: SpaceWorld) -> Series:
        of = columns(world)
        jobs_us = 1e6 * (of["tls_spaces_cpu_s"] - of["stack_cpu_s"]) - 50_000 * of["seconds"]
        return np.asarray(jobs_us / (of["full_handshakes"] + of["resumed_handshakes"]))

    assert of_connection(work) == pytest.approx(5000.0)
    # Three jobs vary independently, with 60, 30 and 10 % of the connections.
    varying = of_connection(changed(work, work_varies=0.3))
    assert varying.std() / 5000 == pytest.approx(0.3 * np.sqrt(0.6**2 + 0.3**2 + 0.1**2), rel=0.1)
    by_hour = of_connection(changed(work, work_follows_clock=0.3)).reshape(-1, DAY).mean(axis=0)
    assert by_hour.std() / 5000 == pytest.approx(0.3, rel=0.01)
    assert by_hour[12 * HOUR] > 1.2 * by_hour[3 * HOUR]


def test_costs_grow_with_the_load() -> None:
    grows = changed(QUIET, costs_follow_load=0.05, mix_sd=0.0)
    of, flat = columns(grows), columns(changed(grows, costs_follow_load=0.0))
    load = np.log(of["full_handshakes"] + of["resumed_handshakes"])
    tls = flat["stack_cpu_s"] - 100_000 * flat["seconds"] / 1e6
    more = (of["stack_cpu_s"] - flat["stack_cpu_s"]) / tls
    slope = np.polyfit((load - load.mean()) / load.std(), more, 1)[0]
    # The set-up of connections costs the same, and the load of a minute varies more than that of an interval.
    assert 0.03 < slope < 0.05
    truth = [
        space_intervals(each, SEED).tls_s_per_day for each in (grows, changed(grows, costs_follow_load=0.0))
    ]
    assert truth[0] > truth[1]


def test_a_clock_moves_the_counts_and_not_the_cpu_time() -> None:
    usual = SPACE_WORLDS["usual"]
    ahead, right = columns(changed(usual, clock_minutes=15)), columns(usual)
    for name in COUNTS:
        assert ahead[name][1:] == pytest.approx(right[name][:-1])
    behind = columns(changed(usual, clock_minutes=-15))
    assert behind["tls_mb"][:-1] == pytest.approx(right["tls_mb"][1:])
    three = columns(changed(usual, clock_minutes=-3))
    assert (three["cpu_s"] == right["cpu_s"]).all()
    assert (three["stack_cpu_s"] == right["stack_cpu_s"]).all()
    # Three of fifteen minutes are those of the next interval.
    mixed = 0.8 * right["tls_mb"][:-1] + 0.2 * right["tls_mb"][1:]
    assert np.corrcoef(three["tls_mb"][:-1], mixed)[0, 1] > 0.99


def test_late_intervals_of_address_spaces_are_apportioned_by_time() -> None:
    usual = SPACE_WORLDS["usual"]
    late, right = columns(changed(usual, spaces_late_minutes=7)), columns(usual)
    assert (late["cpu_s"] == right["cpu_s"]).all()
    for name in ("stack_cpu_s", "tls_spaces_cpu_s"):
        inner = slice(DAY, -DAY)
        assert late[name][inner].sum() == pytest.approx(right[name][inner].sum(), rel=0.001)
        # What happens in an interval is partly in those before and after: it is smoothed.
        before, after = right[name][:-2], right[name][2:]
        weight = 7 * 8 / 15**2
        smoothed = (1 - 2 * weight) * right[name][1:-1] + weight * (before + after)
        assert late[name][1:-1] == pytest.approx(smoothed, rel=0.1)
        assert np.diff(late[name]).std() < 0.9 * np.diff(right[name]).std()
    whole = columns(changed(usual, spaces_late_minutes=15))
    assert whole["stack_cpu_s"] == pytest.approx(right["stack_cpu_s"])


def test_counts_are_lost() -> None:
    usual = SPACE_WORLDS["usual"]
    right = columns(usual)
    lost = columns(changed(usual, lost_hours=((58, 61), (82, 83))))
    missing = np.flatnonzero(np.isnan(lost["full_handshakes"]))
    assert list(missing) == [*range(58 * HOUR, 61 * HOUR), *range(82 * HOUR, 83 * HOUR)]
    assert (lost["cpu_s"] == right["cpu_s"]).all()
    halved = columns(changed(usual, halved_hours=((58, 61),)))
    ratio = halved["plain_mb"] / right["plain_mb"]
    assert ratio[58 * HOUR : 61 * HOUR] == pytest.approx(0.5)
    assert np.delete(ratio, np.arange(58 * HOUR, 61 * HOUR)) == pytest.approx(1.0)
    share = np.isnan(columns(changed(usual, lost_share=0.1))["tls_mb"]).reshape(-1, HOUR)
    assert set(share.sum(axis=1)) == {0, HOUR}
    assert share.mean() == pytest.approx(1 - 0.9**HOUR, abs=0.06)


def test_work_without_tls_is_irregular() -> None:
    calm = changed(QUIET, rate=40.0)
    base = columns(calm)["cpu_s"]

    def added(**changes: object) -> Series:
        return np.asarray(columns(changed(calm, **changes))["cpu_s"] - base)

    batch = added(batch=5.0).reshape(-1, DAY)
    assert np.abs(np.delete(batch, np.arange(HOUR, 2 * HOUR + 2), axis=1)).max() < 1e-6
    assert 3 <= (batch[:, HOUR] > 0.1).sum() <= 13
    spikes = added(spikes=0.02)
    assert 0.01 < (spikes > 0.1).mean() < 0.03
    assert np.ptp(spikes[spikes > 0.1]) == pytest.approx(0, abs=1e-6)
    shifts = np.flatnonzero(np.abs(np.diff(added(shifts=4))) > 0.1)
    assert len(shifts) == 4
    curve = added(other_follows_clock=3.0)
    assert curve[12 * HOUR] > curve[2 * HOUR]
    assert curve[5 * DAY + 12 * HOUR] < curve[12 * HOUR]


def test_other_work_follows_the_load_and_is_inside_or_outside() -> None:
    def spaces(**changes: object) -> tuple[Series, Series]:
        of = columns(changed(QUIET, **changes))
        return of["tls_spaces_cpu_s"], of["cpu_s"] - of["tls_spaces_cpu_s"]

    base, constant = spaces()
    follows, gives_way = (spaces(other=1.0, other_follows=each)[1] - constant for each in (1.0, -1.0))
    assert follows == pytest.approx(-gives_way)
    of = columns(QUIET)
    handshakes = np.log(of["full_handshakes"] + of["resumed_handshakes"]).reshape(-1, DAY)
    of_load = (handshakes - handshakes[:5].mean(axis=0))[:5].ravel()
    assert np.corrcoef(of_load, follows[: 5 * DAY])[0, 1] > 0.6
    inside, outside = spaces(other=1.0, other_follows=1.0, inside=0.3)
    assert inside - base == pytest.approx(0.3 * follows)
    assert outside - constant == pytest.approx(0.7 * follows)


def test_datagrams_are_work_of_the_stack() -> None:
    traffic = changed(QUIET, traffic=0.3, traffic_follows=0.95, traffic_known=True)
    of, without = columns(traffic), columns(QUIET)
    more_us = 1e6 * (of["stack_cpu_s"] - without["stack_cpu_s"])
    assert more_us == pytest.approx(of["datagrams"] - 1000 * of["seconds"])
    assert more_us.std() > 0
    assert without["datagrams"] is None


def test_numbers_and_mix_of_connections() -> None:
    usual = SPACE_WORLDS["usual"]
    of = columns(usual)
    tls = of["full_handshakes"] + of["resumed_handshakes"]
    assert tls.mean() / 900 == pytest.approx(40, rel=0.15)
    # 0.3 for one with TLS of the first job, which has 60 %, and those of other jobs.
    assert of["plain_connections"].mean() / 900 == pytest.approx(0.3 * 0.6 * 40 + 15, rel=0.15)
    none = columns(changed(usual, plain=(0.0, 0.0, 0.0), others_rate=0.0))
    assert not none["plain_connections"].any()
    assert not none["plain_mb"].any()

    def resumed_share(**changes: object) -> Series:
        each = columns(changed(usual, **changes))
        return np.asarray(each["resumed_handshakes"] / (each["full_handshakes"] + each["resumed_handshakes"]))

    assert resumed_share(mix_sd=0.0).mean() == pytest.approx(1 / (1 + np.exp(-0.4)), abs=0.01)
    assert resumed_share(mix_sd=0.0, mean_logit=1.2).mean() == pytest.approx(1 / (1 + np.exp(-1.2)), abs=0.01)
    assert resumed_share(mix_sd=0.0).std() < 0.2 * resumed_share().std()
    assert np.corrcoef(resumed_share(mix_sd=0.1, mix_follows_load=0.5), np.log(tls))[0, 1] > 0.8


def test_a_system_has_a_limit() -> None:
    limited = columns(changed(SPACE_WORLDS["usual"], limit=0.9))
    free = columns(SPACE_WORLDS["usual"])
    at_limit = limited["busy_share"] == 1
    assert at_limit.mean() == pytest.approx(0.1, abs=0.01)
    assert (limited["cpu_s"][~at_limit] == free["cpu_s"][~at_limit]).all()
    assert (limited["cpu_s"][at_limit] <= free["cpu_s"][at_limit]).all()
    assert free["busy_share"].max() == 0.5


def test_series_are_autoregressive() -> None:
    for coefficient in (0.0, 0.5, 0.8, 0.95, -0.5):
        loop = np.random.default_rng(SEED).standard_normal((1200, 2)) * np.sqrt(1 - coefficient**2)
        for at in range(1, len(loop)):
            loop[at] += coefficient * loop[at - 1]
        found = autoregressive(np.random.default_rng(SEED), (2, 1000), coefficient)
        assert found == pytest.approx(loop[200:].T)
        single = autoregressive(np.random.default_rng(SEED), (100_000,), coefficient)
        assert single.std() == pytest.approx(1, abs=0.05)
        assert np.corrcoef(single[1:], single[:-1])[0, 1] == pytest.approx(coefficient, abs=0.02)


def test_no_disturbance_is_nothing() -> None:
    assert not disturbances(np.random.default_rng(SEED), (2, 3 * DAY)).any()


def kinds(text: str) -> dict[str, SpaceWorld]:
    return dict(read_space_kinds(TomlFile.parse(text, "space_worlds.toml")))


def test_a_kind_has_the_parameters_of_the_one_that_it_is_like() -> None:
    first, second, third = read_space_kinds(
        TomlFile.parse(
            "[a]\nrate = 1\nreference = [0, 2]\nleast_held_pct = 90\n"
            '[b]\nlike = "a"\ndays = 7\n[c]\nlike = "b"\nrate = 3\n',
            "space_worlds.toml",
        )
    ).values()
    assert (first.rate, first.days, first.reference, first.least_held_pct) == (1, 14, (0, 2), 90)
    assert (second.rate, second.days, second.reference, second.least_held_pct) == (1, 7, None, 95)
    assert (third.rate, third.days) == (3, 7)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[a]\nlike = "b"\n[b]\n', "line 2: a.like: expected the name of a kind before it, got b"),
        ("[a]\nlost_hours = [[10, 9]]\n", "line 2: a.lost_hours: expected hours within 14 days, got 10 to 9"),
        (
            "[a]\ndays = 2\nhalved_hours = [[40, 49]]\n",
            "line 3: a.halved_hours: expected hours within 2 days",
        ),
        ("[a]\nrat = 2\n", "line 2: a.rat: is not a valid key"),
    ],
)
def test_a_wrong_kind_is_an_error_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        kinds(text)
    assert problem in str(caught.value)
