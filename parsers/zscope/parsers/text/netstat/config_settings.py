"""Our names for the parameters of NETSTAT CONFIG that matter for the cost of TLS, and how to find them.

Spellings differ between releases, and of most of them only the beginning is known. A parameter counts only in
the tables it belongs to: TCP and UDP have some of the same name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from zscope.schemas.printed import plain_label

LABELS = (
    *("DefaultRcvBufSize", "DefaultSndBufSize", "DefltMaxRcvBufSize", "SoMaxConn"),
    *("MaxReTransmitTime", "MinReTransmitTime", "RoundTripGain", "VarianceGain"),
    *("VarianceMultiplier", "MaxSegLifeTime", "DefaultKeepALive", "DelayAck"),
    *("RestrictLowPort", "SendGarbage", "TcpTimeStamp", "FinWait2Time"),
    *("TTLS", "EphemeralPorts", "SelectiveACK", "TimeWaitInterval"),
)
"""The labels of the TCP table in its order."""

WIDTHS = {
    "DEFAULTRCVBUFSIZE": 8, "DEFAULTSNDBUFSIZE": 8, "DEFLTMAXRCVBUFSIZE": 8, "DEFAULTKEEPALIVE": 8,
    "SOMAXCONN": 10,
}  # fmt: skip
"""Labels whose values are printed with leading zeros: with fewer digits they were cut."""


def is_cut(label: str, value: str) -> bool:
    """Whether a value has lost digits.

    >>> is_cut("DefaultSndBufSize", "001310"), is_cut("DefaultSndBufSize", "00131072")
    (True, False)
    """
    width = WIDTHS.get(plain_label(label))
    return width is not None and value.isdigit() and len(value) < width


_PLACES = {plain_label(label): place for place, label in enumerate(LABELS)}
_FIRST = 2
"""So many labels of the TCP table are also those of the table about UDP, and stand at its beginning."""


def place_of(label: str) -> int:
    """Where a label stands in the TCP table; -1 if it is none of it."""
    return _PLACES.get(plain_label(label), -1)


def is_out_of_order(label: str, latest: int) -> bool:
    """Whether a label of the beginning comes behind much later ones."""
    return 0 <= place_of(label) < _FIRST and latest > 2 * _FIRST


@dataclass(frozen=True, slots=True)
class Setting:
    """A parameter that checks ask for."""

    name: str
    label: re.Pattern[str]
    """All of the label in upper case, without blanks."""
    section: re.Pattern[str]
    """The beginning of the heading; empty for one that can stand under any."""


def _settings(section: str, labels: dict[str, str]) -> tuple[Setting, ...]:
    begins = re.compile(section, re.ASCII | re.IGNORECASE)
    return tuple(Setting(name, re.compile(label, re.ASCII), begins) for name, label in labels.items())


SETTINGS = (
    *_settings(
        r"TCP\b",
        {
            "ttls": "TTLS",
            "delay_acks": "DELAYACKS?",
            "auto_delay_acks": "AUTODELAYACK.*",
            "selective_ack": "SELECTIVEACKS?",
            "tcp_timestamps": "TCPTIMESTAMPS?",
            "default_receive_buffer_bytes": "DEFAULTRCVBUFSIZE",
            "default_send_buffer_bytes": "DEFAULTSNDBUFSIZE",
            "max_receive_buffer_bytes": "DEFLTMAXRCVBUFSIZE",
            "max_send_buffer_bytes": "DEFLTMAXSND.*",
            "listen_backlog_limit": "SOMAXCONN",
            "restrict_low_ports": "RESTRICTLOWPORTS?",
            "ephemeral_ports": "EPHEMERALPORTS",
        },
    ),
    *_settings(
        r"(?:IP|GLOBAL)\b",
        {
            "segmentation_offload": "SEG.*OFFLOAD.*",
            "checksum_offload": "CHECKSUM.*OFFLOAD.*",
            "qdio_accelerator": "QDIOACCEL.*",
            "format": "FORMAT",
        },
    ),
    *_settings("", {"smc_auto_cache": "AUTOCACHE", "auto_smc": "AUTOSMC"}),
)


@lru_cache(maxsize=1024)
def setting_of(section: str | None, label: str) -> str | None:
    """Our name of a parameter.

    >>> setting_of("TCP Configuration Table", "AutoDelayAcks"), setting_of("UDP Configuration Table", "TTLS")
    ('auto_delay_acks', None)
    """
    plain = plain_label(label)
    for setting in SETTINGS:
        if setting.section.match(section or "") and setting.label.fullmatch(plain):
            return setting.name
    return None
