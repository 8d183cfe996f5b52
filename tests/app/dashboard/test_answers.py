"""Answers: kept for one version of the store, guarded, bounded."""

from __future__ import annotations

import shutil
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.app.dashboard.conftest import SAMPLE

from zscope.app.dashboard import answers as module
from zscope.app.dashboard.answers import Answers, Data, TooManyRowsError
from zscope.app.dashboard.filters import Filters
from zscope.pipelines.ingest import How, choose, ingest
from zscope.pipelines.metrics import metric, statement
from zscope.pipelines.store import StoreError, open_reader
from zscope.pipelines.store.session import QueryError

CHOSEN = Filters(
    begin=datetime(2026, 3, 9, tzinfo=UTC), end=datetime(2026, 3, 10, tzinfo=UTC), systems=("SRV1", "SRV2"),
    ports=(443,), roles=("server",),
)  # fmt: skip


def data(store: Path, filters: Filters | None = None) -> Data:
    asked = Answers(store)
    return Data(asked, asked.version(), filters or Filters())


def test_a_metric_is_narrowed_by_the_filters(world: Path) -> None:
    found = data(world, CHOSEN).metric("handshake_mix", ["system"])
    with open_reader(world) as connection:
        expected = connection.execute(
            "SELECT system, sum(handshakes)::BIGINT FROM handshake_mix "
            "WHERE hour_utc >= '2026-03-09 00:00:00Z' AND hour_utc < '2026-03-10 00:00:00Z' "
            "AND server_port = 443 AND system IN ('SRV1', 'SRV2') AND handshake_role LIKE 'server%' "
            "GROUP BY 1 ORDER BY 1"
        ).fetchall()
    assert list(zip(found["system"].to_pylist(), found["handshakes"].to_pylist(), strict=True)) == expected
    assert expected


def test_an_answer_is_kept_and_given_again(world: Path) -> None:
    asked = data(world)
    assert asked.metric("handshake_mix", []) is asked.metric("handshake_mix", [])
    assert asked.metric("handshake_mix", []) is not asked.metric("handshake_mix", ["system"])


def test_parameters_of_one_question_do_not_reach_the_next(world: Path) -> None:
    asked = data(world)
    only = "target_pct = 77"
    assert asked.metric("resumption_saving", where=only).num_rows == 0
    assert (
        asked.metric("resumption_saving", where=only, settings=["SET VARIABLE target_pct = 77"]).num_rows > 0
    )
    assert asked.metric("resumption_saving", where=only).num_rows == 0


def test_a_metric_that_takes_its_period_as_parameters_gets_it(world: Path) -> None:
    noon = datetime(2026, 3, 9, 12, tzinfo=UTC)
    whole = data(world).metric("handshake_cost")["period_to_utc"].to_pylist()
    part = data(world, Filters(end=noon)).metric("handshake_cost")["period_to_utc"].to_pylist()
    assert min(whole) > noon
    assert max(part) <= noon


def test_new_data_is_another_version_and_another_answer(only_zert: Path, tmp_path: Path) -> None:
    store = Path(shutil.copytree(only_zert, tmp_path / "store"))
    asked = Answers(store)
    before = asked.version()
    count = "SELECT count(*) AS n FROM rmf_cpu"
    assert asked.rows(before, count)["n"].to_pylist() == [0]
    assert asked.version() == before
    ingest(store, [SAMPLE / "reports" / "rmf-cpu.SYSB.txt"], How(choose(None)))
    after = asked.version()
    assert after != before
    assert asked.rows(after, count)["n"].to_pylist()[0] > 0


def test_statements_can_only_read_the_store(world: Path) -> None:
    asked = data(world)
    for statement_ in ("SELECT * FROM read_text('/etc/hostname')", "CREATE TABLE zscope.x AS SELECT 1"):
        with pytest.raises(QueryError):
            asked.rows(statement_)


def test_an_answer_that_is_too_long_is_refused(world: Path) -> None:
    with pytest.raises(TooManyRowsError, match="100,000 rows"):
        data(world).rows("SELECT * FROM range(200000)")


def test_what_was_not_asked_for_longest_is_let_go(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_KEPT_BYTES", 3_000)
    asked = data(world)
    first = asked.rows("SELECT range AS a FROM range(200)")
    asked.rows("SELECT range AS b FROM range(200)")
    again = asked.rows("SELECT range AS a FROM range(200)")
    assert again is not first
    assert again.equals(first)


def test_many_readers_at_once_get_their_own_answers(world: Path) -> None:
    asked = data(world)
    found: dict[int, list[int]] = {}

    def ask(number: int) -> None:
        found[number] = asked.rows(f"SELECT {number} AS n, count(*) AS c FROM smf119_zert_detail")[
            "n"
        ].to_pylist()

    readers = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(60)
    assert found == {number: [number] for number in range(12)}


def test_a_statement_that_fails_leaves_the_others_alone(world: Path) -> None:
    asked = data(world)
    for _ in range(6):
        with pytest.raises(QueryError):
            asked.rows("SELECT nothing_of_the_kind")
    assert asked.rows("SELECT 1 AS one")["one"].to_pylist() == [1]


def test_without_a_store_there_is_no_version(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        Answers(tmp_path / "nowhere").version()


def test_the_same_numbers_as_the_command(world: Path) -> None:
    found = data(world).metric("protocol_distribution")
    with open_reader(world) as connection:
        expected = connection.execute(statement(metric("protocol_distribution"))).to_arrow_table()
    assert found.to_pylist() == expected.to_pylist()
