"""Days of an experiment with known costs of TLS: counts and CPU time of the intervals around it.

They exist to test what `zscope experiment result` says. The stack runs no application. Servers spend time of
their own on each connection, but in other address spaces than the stack and the listener of the test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from zscope.samples.cost_truth import FULL_US, MB_US, RESUMED_US
from zscope.samples.simulated_series import DAY, INTERVAL_S, MONDAY, Series, autoregressive

Whole = np.ndarray[Any, np.dtype[np.int64]]

SET_UP_US, PLAIN_MB_US = 80.0, 500.0
"""What the stack does for any connection, and for a megabyte without TLS."""
LISTENER_US, LISTENER_MB_US = 200.0, 50.0
ARMS = ("nothing", "plain", "full", "resumed", "tls-bytes", "plain-bytes")
_STACK_US = 100_000.0
_LISTENER_BASE_US = 2_000.0
_PERSISTENCE = 0.8
_AFTER_US = 1e-6


@dataclass(frozen=True)
class ExperimentWorld:
    """The parameters of a world."""

    days: int = 14
    test_days: int = 1
    rate: float = 40.0
    """Real handshakes a second."""
    test_rate: float = 10.0
    test_mb: float = 2.0
    stack_noise: float = 0.1
    """Standard deviation of other work of the stack, in that of the CPU time of TLS."""
    charged_to_stack: float = 1.0
    """Share of a handshake that is charged to the stack; the rest is charged to the job."""
    bulk_to_stack: float = 0.0
    plain: float = 20.0
    """Real connections without TLS a second."""
    test_cost: float = 1.0
    """Cost of a test handshake, relative to a real one."""
    lost: float = 0.0
    """Share of the intervals whose records are lost."""


WORLDS = {
    "handshakes in the stack, bytes in the server": ExperimentWorld(),
    "all in the stack": ExperimentWorld(bulk_to_stack=1.0),
    "all in the server": ExperimentWorld(charged_to_stack=0.0),
    "half and half": ExperimentWorld(charged_to_stack=0.5, bulk_to_stack=0.5),
    "noise of the stack x3": ExperimentWorld(stack_noise=0.3),
    "10 % of the intervals lost": ExperimentWorld(lost=0.1),
    "three days": ExperimentWorld(test_days=3),
    "no connections without TLS": ExperimentWorld(plain=0.0),
    "one tenth of the rates": ExperimentWorld(rate=4.0, test_rate=1.0, test_mb=0.2, plain=2.0),
}
UNLIKE = ExperimentWorld(test_cost=0.8)
"""Test handshakes that cost less than the real ones."""


@dataclass(frozen=True)
class SimulatedExperiment:
    """The columns of an experiment, and what is true."""

    columns: dict[str, Any]
    full_us: float
    resumed_us: float
    mb_us: float
    tls_s_per_day: float


def simulated_experiment(world: ExperimentWorld, seed: int) -> SimulatedExperiment:
    """Return the intervals of a world."""
    rng = np.random.default_rng(seed)
    count = world.days * DAY
    slot = np.arange(count)
    arm = _arms(world, rng, count)
    curve = np.sin(2 * np.pi * (slot % DAY - 36) / DAY)
    weekend = (slot // DAY) % 7 >= 5
    load = np.exp(0.4 * curve - 0.5 * weekend + 0.3 * _smooth(rng, count) - 0.1)
    resumed_share = 1 / (1 + np.exp(-(0.4 + 0.5 * _smooth(rng, count))))
    real = world.rate * load
    full, resumed = (_counted(rng, real * share) for share in (1 - resumed_share, resumed_share))
    mb = (full + resumed) * 0.05 * np.exp(0.3 * _smooth(rng, count))
    plain = _counted(rng, world.plain * load * np.exp(0.3 * _smooth(rng, count)))
    plain_mb = plain * 0.07 * np.exp(0.3 * _smooth(rng, count))
    active = (INTERVAL_S - 20) / INTERVAL_S
    test = {
        name: rate * active * (arm == ARMS.index(of_arm))
        for name, of_arm, rate in (
            ("test_plain", "plain", world.test_rate),
            ("test_full", "full", world.test_rate),
            ("test_resumed", "resumed", world.test_rate),
            ("test_tls_mb", "tls-bytes", world.test_mb),
            ("test_plain_mb", "plain-bytes", world.test_mb),
        )
    }
    handshakes = FULL_US * full + RESUMED_US * resumed
    test_handshakes = world.test_cost * (FULL_US * test["test_full"] + RESUMED_US * test["test_resumed"])
    tls = handshakes + MB_US * mb
    connections = full + resumed + plain + test["test_plain"] + test["test_full"] + test["test_resumed"]
    all_mb = mb + plain_mb + test["test_tls_mb"] + test["test_plain_mb"]
    noise = world.stack_noise * float(tls.std()) * _smooth(rng, count)
    stack = (
        _STACK_US
        + SET_UP_US * connections
        + PLAIN_MB_US * all_mb
        + world.charged_to_stack * (handshakes + test_handshakes)
        + world.bulk_to_stack * MB_US * (mb + test["test_tls_mb"])
        + noise
    )
    listener = (
        _LISTENER_BASE_US
        + LISTENER_US * (test["test_plain"] + test["test_full"] + test["test_resumed"])
        + LISTENER_MB_US * (test["test_tls_mb"] + test["test_plain_mb"])
        + (1 - world.charged_to_stack) * test_handshakes
        + (1 - world.bulk_to_stack) * MB_US * test["test_tls_mb"]
        + 0.01 * float(tls.std()) * _smooth(rng, count)
    )
    rates = test | {
        "real_full": full, "real_resumed": resumed, "real_tls_mb": mb, "real_plain": plain,
        "real_plain_mb": plain_mb,
        "stack_cpu_s": stack * _AFTER_US, "listener_cpu_s": listener * _AFTER_US,
    }  # fmt: skip
    start = (MONDAY.astype("datetime64[us]").astype(np.int64) + slot * INTERVAL_S * 1_000_000).astype(
        np.int64
    )
    columns: dict[str, Any] = {name: rate * INTERVAL_S for name, rate in rates.items()}
    columns |= {"start_us": start, "seconds": np.full(count, float(INTERVAL_S)), "arm": arm}
    seen = rng.random(count) >= world.lost
    return SimulatedExperiment(
        {name: column[seen] for name, column in columns.items()},
        FULL_US * world.test_cost, RESUMED_US * world.test_cost, MB_US,
        float(tls.mean()) * 86_400 * _AFTER_US,
    )  # fmt: skip


def _arms(world: ExperimentWorld, rng: np.random.Generator, count: int) -> Whole:
    """Return the number of the arm of each interval; the experiment is in the second week."""
    arm = np.full(count, -1)
    first = (7 if world.days >= 14 else 0) * DAY
    for block in range(first, first + world.test_days * DAY, len(ARMS)):
        arm[block : block + len(ARMS)] = rng.permutation(len(ARMS))
    return arm


def _smooth(rng: np.random.Generator, count: int) -> Series:
    """Return autocorrelated noise with a standard deviation of 1."""
    return autoregressive(rng, (count,), _PERSISTENCE)


def _counted(rng: np.random.Generator, rate: Series) -> Series:
    """Return rates as they are counted in an interval."""
    return np.asarray(rng.poisson(rate * INTERVAL_S) / INTERVAL_S)
