"""The log of the client as runs of a store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from zscope.pipelines.experiment.arms import Arm
from zscope.pipelines.experiment.client_log import LogLine, runs_of_log
from zscope.pipelines.runs.edit import with_runs
from zscope.pipelines.runs.read import parse_runs
from zscope.schemas.errors import SettingsError

START = datetime(2026, 12, 2, 0, 0, 10, tzinfo=UTC)
LINE = LogLine(
    start_utc=START,
    end_utc=START + timedelta(minutes=14, seconds=40, microseconds=123),
    arm=Arm.RESUMED,
    connections=100,
    full=1,
    resumed=99,
    failed=2,
    bytes=12_800,
    target="192.0.2.1",
    tls_port=4443,
    plain_port=4400,
    tls_version="TLSv1.3",
    cipher="TLS_AES_256_GCM_SHA384",
)


def test_a_quarter_hour_is_a_run_with_the_arm_in_its_tags() -> None:
    [run] = runs_of_log([LINE], "SYSA")
    assert (run.name, run.system, run.role) == ("tls-test 2026-12-02 00:00:10 4443", "SYSA", "tls-test")
    assert (run.from_utc, run.to_utc, run.transactions) == (LINE.start_utc, LINE.end_utc, 100)
    assert {"arm=resumed", "tls_port=4443", "plain_port=4400", "full=1", "resumed=99"} <= set(run.tags)
    assert run.note is None


def test_the_file_has_the_runs_without_warnings() -> None:
    lines = [LINE, LogLine(**{**{name: getattr(LINE, name) for name in LINE.__struct_fields__}, **LATER})]
    runs = runs_of_log(lines, "SYSA")
    parsed = parse_runs(with_runs("", runs))
    assert parsed.problems == ()
    assert list(parsed.runs) == runs
    assert parsed.runs[1].note == "ended early: a signal of the user"


LATER = {
    "start_utc": START + timedelta(minutes=15),
    "end_utc": START + timedelta(minutes=16),
    "arm": Arm.NOTHING,
    "tls_version": None,
    "cipher": None,
    "ended_early": "a signal of the user",
}


def test_a_wrong_system_is_refused() -> None:
    with pytest.raises(SettingsError, match="system: "):
        runs_of_log([LINE], "a name that is too long")
