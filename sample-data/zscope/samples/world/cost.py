"""The cost model of a world: CPU time by kind of handshake, byte, connection and request."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zscope.samples.dump.recipe import RecipeError
from zscope.samples.world.world_scenario import SCENARIO
from zscope.schemas.declared import TomlFile
from zscope.schemas.errors import DeclarationError

if TYPE_CHECKING:
    from collections.abc import Mapping

SIDES = ("client", "server")
FULL_KINDS = ("rsa_us", "dhe_us", "ecdhe_us", "tls13_us")
RESUMED_KINDS = ("resumed_us", "resumed13_us")
_TOGETHER = {"full_us": FULL_KINDS, "resumed_us": RESUMED_KINDS}
"""Names that stand for all costs of a kind."""


@dataclass(frozen=True, slots=True)
class SideCost:
    """CPU time in microseconds at one end of connections, of the magnitudes in published measurements."""

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
    """Every connection, in addition to its handshake."""
    megabyte_us: float
    """A million bytes of a TLS connection, in both directions."""
    plain_megabyte_us: float
    """A million bytes of another connection: what more they cost with TLS is what TLS costs."""
    application_us: float
    """The work of the application for a connection, which is in the address space of its job."""
    new_client_us: float
    """Its additional work for a client that had a full handshake, such as a logon."""
    request_us: float
    """A request in a run with long connections."""


STACK_SHARE = 0.3
"""Share of the CPU time of connections that is charged to the TCP/IP stack, if the model has no other."""
CLIENT_COST, SERVER_COST = SideCost(**SCENARIO.cost.client), SideCost(**SCENARIO.cost.server)


@dataclass(frozen=True, slots=True)
class CostModel:
    """The general purpose CPU time of a system in an interval.

    The sum of the base of the interval, the cost of each connection and handshake that started in it, and the
    cost of bytes and requests, distributed evenly over the life of their connection; multiplied by one plus a
    normally distributed error, which can be correlated from interval to interval. Benchmark runs have
    additional factors.
    """

    client: SideCost = CLIENT_COST
    server: SideCost = SERVER_COST
    base_us_per_s: float = 60_000
    """CPU time of the other work of a system, on average over a working day."""
    base_swing: float = 0.6
    """Share of the other work that follows the load of the day."""
    base_follows: float = 0.0
    """Share of the other work that follows the number of connections from interval to interval."""
    quiet_base_us_per_s: float = 4_000
    """CPU time of the other work in nights of benchmark runs."""
    handshakes_in_stack: float = STACK_SHARE
    """Share of the CPU time of handshakes that is charged to the TCP/IP stack; the rest is the job's."""
    bytes_in_stack: float = STACK_SHARE
    """The same of the bytes of TLS connections."""
    noise: float = 0.01
    """Standard deviation of the error, relative to the value."""
    noise_correlation: float = 0.0
    """Correlation of the errors of successive intervals."""

    def __post_init__(self) -> None:
        for name, value in self.plain().items():
            if not 0 <= value < 1e9:
                raise RecipeError(
                    f"{name} = {value:g} is not a valid cost: it must be from 0 to below 1,000,000,000"
                )
        limits = (
            ("handshakes_in_stack", 1, "all of it"),
            ("bytes_in_stack", 1, "all of it"),
            ("noise", 0.5, "half of the value"),
            ("noise_correlation", 0.99, "0.99"),
            ("base_swing", 1, "all other work"),
            ("base_follows", 1 - self.base_swing, "the other work without base_swing"),
        )
        for name, most, what in limits:
            if getattr(self, name) > most:
                raise RecipeError(f"{name} = {getattr(self, name):g} is more than {what}")

    def plain(self) -> dict[str, float]:
        """Return all values by the names that `changed` accepts."""
        values: dict[str, float] = {}
        for name, value in asdict(self).items():
            nested = value.items() if isinstance(value, dict) else ()
            values |= {f"{name}.{key}": cost for key, cost in nested} if nested else {name: value}
        return values

    def changed(self, changes: Mapping[str, float]) -> CostModel:
        """Return the model with other values: `noise`, `client.rsa_us`, or `rsa_us` for both sides.

        `full_us` stands for all key exchanges, `resumed_us` for all versions.

        >>> model = CostModel().changed({"full_us": 20_000, "client.connection_us": 5})
        >>> model.server.dhe_us, model.client.connection_us, model.server.connection_us
        (20000, 5, 16)
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
                raise RecipeError(
                    f"{name!r} is not a cost; known costs are {known}, with or without client. or server."
                )
        return model

    def to_json(self) -> dict[str, Any]:
        """Return the model as JSON values."""
        return asdict(self)


_OF_SIDE = {field.name for field in fields(SideCost)}
_OWN = {field.name for field in fields(CostModel)} - set(SIDES)


def read_costs(text: str) -> dict[str, float]:
    """Read changes of a cost model from a TOML file, or from text `name=value,...`.

    >>> read_costs("full_us=20_000, server.megabyte_us=1e4")
    {'full_us': 20000.0, 'server.megabyte_us': 10000.0}
    """
    if "=" in text:
        pairs = (part.partition("=") for part in text.split(","))
        return {name.strip(): _number(name.strip(), value.strip()) for name, _, value in pairs}
    try:
        return _costs_of(TomlFile.read(Path(text), f"costs {text!r}"))
    except DeclarationError as error:
        raise RecipeError(f"{error}; use a TOML file or name=value,...") from error


def _costs_of(file: TomlFile) -> dict[str, float]:
    costs: dict[str, float] = {}
    for name, value in file.content.items():
        if isinstance(value, dict):
            costs |= {f"{name}.{key}": file.typed(float, cost, (name, key)) for key, cost in value.items()}
        else:
            costs[name] = file.typed(float, value, (name,))
    return costs


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise RecipeError(f"{name} = {text!r} is not a number of microseconds") from None
