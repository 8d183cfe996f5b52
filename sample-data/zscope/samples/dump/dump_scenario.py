"""The scenario of a dump: who connects to whom, how often, and what else systems write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from zscope.samples.declaration_files import read_declared
from zscope.schemas import cipher_suites
from zscope.schemas.declared import Declared

VERSION_CODES = {"TLSv1.0": 0x0301, "TLSv1.1": 0x0302, "TLSv1.2": 0x0303, "TLSv1.3": 0x0304}
TLS13 = "TLSv1.3"
CLIENT, SERVER, SERVER_WITH_CLIENT_AUTH = 1, 2, 3


class Suite(Declared, frozen=True):
    """A cipher suite together with a protocol version that uses it."""

    code: str
    version: Literal["TLSv1.0", "TLSv1.1", "TLSv1.2", "TLSv1.3"]
    rsa: int = 0
    """Weight among the suites of a server with an RSA certificate."""
    ec: int = 0
    """Weight among the suites of a server with an elliptic curve certificate."""

    @property
    def version_code(self) -> int:
        """The version as records show it."""
        return VERSION_CODES[self.version]

    @property
    def is_tls13(self) -> bool:
        """Whether it is a suite of TLSv1.3."""
        return self.version == TLS13

    @property
    def algorithms(self) -> tuple[int, int, int]:
        """Codes of zERT for encryption, authentication and key exchange; 0 if none is published."""
        known = cipher_suites()[self.code]
        encryption = {"3DES": 4}.get(known.encryption, 0)
        authentication = 1 if known.mac == "AEAD" else {"MD5": 3, "SHA1": 4}.get(known.hash, 0)
        return encryption, authentication, {"RSA": 2}.get(known.key_exchange, 0)


class Application(Declared, frozen=True):
    """A job that owns sockets."""

    job: str
    user: str
    port: int
    weight: float
    protection: Literal["tls", "ssh", "ipsec", ""] = ""
    calls_out: bool = False
    """Whether the local end is the client."""
    client_auth: bool = False
    """Whether its partners need a certificate."""
    resumption: float = 1.0
    """Factor on the share of resumed sessions in the recipe."""
    kilobytes: float = 60
    """Typical size of a connection."""
    provider: str = "IBM System SSL"
    host: str = ""
    elliptic: bool = False
    fips_mode: int = 0
    smc: bool = False
    """Whether the data of its connections bypass TCP, through shared memory."""

    @property
    def role(self) -> int:
        """Its role in handshakes."""
        if self.calls_out:
            return CLIENT
        return SERVER_WITH_CLIENT_AUTH if self.client_auth else SERVER


class ForeignType(Declared, frozen=True):
    """A record type with random content."""

    type: int
    weight: int
    lengths: tuple[int, int]
    """The shortest and the longest one."""
    subtypes: tuple[int, ...] = ()
    subsystem: str = ""


class UnknownSubtypes(Declared, frozen=True):
    """Subtypes of type 119 without a layout."""

    subtypes: tuple[int, ...]
    lengths: tuple[int, int]


class KindOfRecord(Declared, frozen=True):
    """How often records of a kind occur."""

    share: float
    """In a typical dump."""
    bytes: int
    """Approximate length, for planning a dump of a given size."""
    sample: int
    """Number in the dump of `sample-data`."""


class DumpScenario(Declared, frozen=True):
    """The content of the file."""

    hourly: tuple[float, ...]
    """Relative load of the hours of a day."""
    suite: tuple[Suite, ...]
    host_applications: tuple[str, ...]
    foreign_type: tuple[ForeignType, ...]
    record_kind: Mapping[str, KindOfRecord]
    application: tuple[Application, ...]
    unknown_119: UnknownSubtypes


SCENARIO = read_declared("dump/scenario.toml", DumpScenario)
