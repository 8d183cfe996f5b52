"""Damaged AT-TLS inputs: single faults lose nothing in silence, and mutations raise no exception."""

from __future__ import annotations

import random
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parsers.damaging import words_changed
from tests.parsers.single_fault import FaultSample, known_sample, silent_changes
from tests.parsers.text.attls.examples import (
    CERTIFICATE,
    DAEMON,
    ERROR,
    FLOW,
    MAP,
    ON_CONSOLE,
    PASEARCH,
    POLICY,
)

from zscope.parsers import InputError, ReadOptions, read
from zscope.parsers.text.attls.messages_write import job_log_lines
from zscope.parsers.text.capture_writer import SyslogWriter

POLICY_TABLES, MESSAGES = ("tls_rule", "tls_action"), ("tls_message",)
WHEN = datetime(2026, 3, 3, 9, 41, 8)  # noqa: DTZ001 - local time
OPTIONS = ReadOptions(system="SYSA")
OF_POLICY = {"setting": "parameter_value", "code": "parameter_value"}
FOLLOWS = {"reason_family": "return_code"}
LOG = "".join(f"{DAEMON}{text}\n" for text in (FLOW, ERROR, MAP, CERTIFICATE))
CONSOLE = "\n".join(SyslogWriter("SYSA", WHEN, 731).reply(ON_CONSOLE)) + "\n"
SAMPLES = [
    FaultSample("pasearch.txt", PASEARCH.encode(), POLICY_TABLES, options=OPTIONS, follows=OF_POLICY),
    FaultSample("policy.txt", POLICY.encode(), POLICY_TABLES, options=OPTIONS, follows=OF_POLICY),
    FaultSample("2026-03-04.log", LOG.encode(), MESSAGES, (1, 2, 3, 4), options=OPTIONS, follows=FOLLOWS),
    FaultSample("syslog.2026-03-04.txt", CONSOLE.encode(), MESSAGES, options=OPTIONS, follows=FOLLOWS),
]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_some_faults_are_not_silent(sample: FaultSample, tmp_path: Path) -> None:
    known = known_sample(sample, tmp_path)
    silent = {
        fault.shown(sample.content): lost
        for fault in sample.some_faults(60)
        if (lost := silent_changes(known, fault))
    }
    assert not silent


@pytest.mark.deep
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_many_faults_are_not_silent(sample: FaultSample, tmp_path: Path) -> None:
    known = known_sample(sample, tmp_path)
    silent = {
        fault.shown(sample.content): lost
        for fault in sample.some_faults(500, 1)
        if (lost := silent_changes(known, fault))
    }
    assert not silent


ROW = {
    "message_id": "EZD1287I", "return_code": 402, "event": "Initial Handshake", "local_ip": "10.0.0.1",
    "local_port": 1, "remote_ip": "10.0.0.2", "remote_port": 2, "job_name": "A", "ttls_rule": "R",
    "user_id": "U", "connection_id": 7,
}  # fmt: skip
TEXTS = {
    "pasearch.txt": PASEARCH,
    "policy.txt": POLICY,
    "syslog.log": LOG,
    "console.txt": CONSOLE,
    "job.txt": "\n".join(job_log_lines(ROW, WHEN)) + "\n",
}


def _read_mutations(folder: Path, count: int, seed: int) -> int:
    luck = random.Random(seed)
    done = 0
    while done < count:
        for name, text in TEXTS.items():
            path = folder / name
            path.write_text(words_changed(text, luck), encoding="utf-8")
            with suppress(InputError):  # A refused input is an answer.
                read(path, [*POLICY_TABLES, *MESSAGES], options=OPTIONS)
            done += 1
    return done


def test_some_mutations_raise_nothing(tmp_path: Path) -> None:
    assert _read_mutations(tmp_path, 150, 1) >= 150


@pytest.mark.deep
def test_thousands_of_mutations_raise_nothing(tmp_path: Path) -> None:
    assert _read_mutations(tmp_path, 2_000, 2) >= 2_000


LINE = st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=60)


@settings(deadline=None)
@given(
    lines=st.lists(LINE | st.sampled_from([*PASEARCH.splitlines(), *POLICY.splitlines(), *LOG.splitlines()]))
)
def test_any_order_of_lines_is_read(lines: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    with suppress(InputError):
        read(path, [*POLICY_TABLES, *MESSAGES], options=OPTIONS)
