"""Which time zone the clock of each system keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Zones:
    """Which zone the clock of each system keeps."""

    systems: Mapping[str, str] = field(default_factory=dict)
    """Zones by the name of the system, in capitals."""
    default: str | None = None
    """Of all systems that are not named."""

    def of(self, system: str | None) -> str | None:
        """The zone of a system; None where nothing is known about its clock.

        >>> Zones({"SYSA": "Europe/Berlin"}).of("SYSA"), Zones({"SYSA": "Europe/Berlin"}).of("SYSB")
        ('Europe/Berlin', None)
        """
        return self.systems.get((system or "").upper(), self.default)
