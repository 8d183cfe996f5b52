"""What work costs in a synthetic world: CPU time by kind of handshake, byte, connection and request."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from zscope.parsers.synthetic.recipe import RecipeError

SIDES = ("client", "server")
FULL_KINDS = ("rsa_us", "dhe_us", "ecdhe_us", "tls13_us")
RESUMED_KINDS = ("resumed_us", "resumed13_us")
_TOGETHER = {"full_us": FULL_KINDS, "resumed_us": RESUMED_KINDS}
"""One name for all costs of a kind."""


@dataclass(frozen=True, slots=True)
class SideCost:
    """CPU time in microseconds on one end of connections; the synthetic machine is a slow one.

    So few connections are enough to be seen in RMF, and the world stays small.
    """

    rsa_us: float
    """A full handshake with RSA key exchange."""
    dhe_us: float
    ecdhe_us: float
    tls13_us: float
    resumed_us: float
    """A resumed handshake up to TLSv1.2."""
    resumed13_us: float
    failed_us: float
    connection_us: float
    """Every connection, beside its handshake."""
    megabyte_us: float
    """A million bytes, in and out together."""
    request_us: float
    """A request in a run whose connections last."""


CLIENT_COST = SideCost(120_000, 1_800_000, 148_000, 224_000, 80_000, 136_000, 24_000, 12_000, 60_000, 500)
SERVER_COST = SideCost(240_000, 2_400_000, 300_000, 300_000, 140_000, 232_000, 32_000, 16_000, 80_000, 600)


@dataclass(frozen=True, slots=True)
class CostModel:
    """The CPU time of a system in an interval, on general purpose processors.

    It is the base of the interval, and for each connection its cost and that of its handshake in the interval
    in which they happen, and that of its bytes and requests spread evenly over its life; all of it times one
    and a normally distributed error. Runs have factors of their own.
    """

    client: SideCost = CLIENT_COST
    server: SideCost = SERVER_COST
    base_us_per_s: float = 10_000
    """What a system uses without any connection."""
    quiet_base_us_per_s: float = 400
    """The same in nights of benchmark runs."""
    noise: float = 0.01
    """Standard deviation of the error, as a share of the value."""

    def __post_init__(self) -> None:
        for name, value in self.plain().items():
            if not 0 <= value < 1e9:
                raise RecipeError(f"{name} = {value:g} is no cost: it goes from 0 to below 1,000,000,000")
        if self.noise > 0.5:
            raise RecipeError(f"noise = {self.noise:g} is more than half of the value")

    def plain(self) -> dict[str, float]:
        """All values by the names that `changed` understands."""
        values: dict[str, float] = {}
        for name, value in asdict(self).items():
            nested = value.items() if isinstance(value, dict) else ()
            values |= {f"{name}.{key}": cost for key, cost in nested} if nested else {name: value}
        return values

    def changed(self, changes: Mapping[str, float]) -> CostModel:
        """The same with other values: `noise`, `client.rsa_us`, or `rsa_us` for both sides.

        `full_us` stands for all key exchanges, `resumed_us` for all versions.

        >>> model = CostModel().changed({"full_us": 20_000, "client.connection_us": 5})
        >>> model.server.dhe_us, model.client.connection_us, model.server.connection_us
        (20000, 5, 16000)
        """
        model = self
        for name, value in changes.items():
            side, _, cost = name.rpartition(".")
            costs = _TOGETHER.get(cost, (cost,))
            if name in _OWN:
                model = replace(model, **{name: value})  # type: ignore[arg-type]
            elif side in {"", *SIDES} and set(costs) <= _OF_SIDE:
                for changed in (side,) if side else SIDES:
                    own: SideCost = getattr(model, changed)
                    new = replace(own, **dict.fromkeys(costs, value))
                    model = replace(model, client=new) if changed == "client" else replace(model, server=new)
            else:
                known = ", ".join(["full_us", *sorted(_OF_SIDE | _OWN)])
                raise RecipeError(f"{name!r} is no cost; known are {known}, with client. or server. in front")
        return model

    def to_json(self) -> dict[str, Any]:
        """The model in plain values."""
        return asdict(self)


_OF_SIDE = {field.name for field in fields(SideCost)}
_OWN = {field.name for field in fields(CostModel)} - set(SIDES)


def read_costs(text: str) -> dict[str, float]:
    """Changes of a cost model: a TOML file, or `name=value,...`.

    >>> read_costs("full_us=20_000, server.megabyte_us=1e4")
    {'full_us': 20000.0, 'server.megabyte_us': 10000.0}
    """
    if "=" in text:
        pairs = (part.partition("=") for part in text.split(","))
        return {name.strip(): _number(name.strip(), value.strip()) for name, _, value in pairs}
    try:
        content = tomllib.loads(Path(text).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise RecipeError(
            f"{text!r} is no file of costs: {reason}; give a TOML file or name=value,..."
        ) from error
    found: dict[str, float] = {}
    for name, value in content.items():
        if isinstance(value, dict):
            found |= {f"{name}.{key}": _number(key, cost) for key, cost in value.items()}
        else:
            found[name] = _number(name, value)
    return found


def _number(name: str, value: object) -> float:
    try:
        if isinstance(value, (str, int, float)) and not isinstance(value, bool):
            return float(value)
    except ValueError:
        pass
    raise RecipeError(f"{name} = {value!r} is no number of microseconds")


@dataclass(frozen=True, slots=True)
class Factors:
    """By how much a run differs from the model on one side."""

    handshake: float = 1.0
    everything: float = 1.0


@dataclass(frozen=True, slots=True)
class RunFactors:
    """Those of both sides."""

    client: Factors = field(default_factory=Factors)
    server: Factors = field(default_factory=Factors)
