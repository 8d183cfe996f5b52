"""What holds for the rows of single supplied tables beyond the format of their columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from zscope.parsers.text.out import shown

if TYPE_CHECKING:
    from zscope.parsers.text.supplied.draft import Draft, Rule

_SUITE = re.compile(r"(?:0x)?([0-9a-f]{4}|[0-9a-f]{8})", re.ASCII | re.IGNORECASE)
_CHANNEL_PATH = re.compile(r"[0-9a-f]{2}", re.ASCII | re.IGNORECASE)
NO_CIPHER = "none"


def _period(draft: Draft) -> None:
    start, end = draft.values.get("start_utc"), draft.values.get("end_utc")
    if start and end and start >= end:
        draft.refuse("end_utc", f"{shown(draft.told['end_utc'])} is not behind the start")


def _round_trip(draft: Draft) -> None:
    """Numbers of suites and the word for none have one spelling; names of CipherSpecs are as written."""
    cipher = draft.values.get("cipher")
    if not cipher:
        return
    if cipher.lower() == NO_CIPHER:
        draft.values["cipher"] = NO_CIPHER
    elif suite := _SUITE.fullmatch(cipher):
        draft.values["cipher"] = suite[1].upper()


def _virtual_machine(draft: Draft) -> None:
    if userid := draft.values.get("userid"):
        draft.values["userid"] = userid.upper()
    _has_length(draft)


def _channel_path(draft: Draft) -> None:
    if chpid := draft.values.get("chpid"):
        draft.values["chpid"] = chpid.upper()
        if not _CHANNEL_PATH.fullmatch(chpid):
            draft.refuse("chpid", f"{shown(chpid)} is no channel path: expected are two hexadecimal digits")
    _has_length(draft)


def _has_length(draft: Draft) -> None:
    if draft.values.get("period_s") == 0:
        draft.refuse("period_s", "a period has a length above 0")


RULES: Mapping[str, Rule] = {
    "transaction_count": _period,
    "mq_round_trip": _round_trip,
    "zvm_user": _virtual_machine,
    "zvm_channel": _channel_path,
}
"""By table; one without an entry has none."""
