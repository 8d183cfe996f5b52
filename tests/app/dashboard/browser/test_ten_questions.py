"""Ten questions that the first 900 pixels of a page answer, with what the store says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from tests.app.dashboard.browser.conftest import Reader, reader_of

import zscope.api as zs
from zscope.app.shared.written_values import shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser
WIDTH, HEIGHT = 1440, 900
SEEN = """([question, width, height]) => {
    const texts = [...document.querySelectorAll('[data-testid=stMain] strong, [data-testid=stMetricLabel]')];
    const title = texts.find(each => each.innerText.trim() === question);
    let card = title?.closest('[data-testid=stMetric]') ?? title;
    while (card && !card.matches('[data-testid=stMetric]') && !/[●◐○◇]/.test(card.innerText))
        card = card.parentElement;
    if (!card) return null;
    const walker = document.createTreeWalker(card, NodeFilter.SHOW_TEXT), found = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const range = document.createRange();
        range.selectNodeContents(node);
        const box = range.getBoundingClientRect();
        const isSeen = box.width > 0 && box.top >= 0 && box.bottom <= height && box.right <= width
            && node.parentElement.checkVisibility({opacityProperty: true, visibilityProperty: true});
        if (isSeen) found.push(node.textContent);
    }
    return found.join(' ').replace(/\\s+/g, ' ');
}"""
"""The texts of the card or tile of a question that are inside the window, in HTML and in pictures."""
Row = dict[str, Any]


class Seen(Protocol):
    """What a reader sees of the card with a question, on a page that was not scrolled."""

    def __call__(self, page: str, question: str) -> str: ...


@pytest.fixture(scope="module")
def seen(browser: Browser, server: str) -> Iterator[Seen]:
    """Each page is opened once."""
    readers: dict[str, tuple[Reader, Iterator[Reader]]] = {}

    def texts(page: str, question: str) -> str:
        if page not in readers:
            opened = reader_of(browser, server)
            reader = next(opened)
            reader.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
            reader.open(page)
            readers[page] = reader, opened
        reader, _ = readers[page]
        asked = [question, WIDTH, HEIGHT]
        reader.page.wait_for_function(f"asked => ({SEEN})(asked)", arg=asked)
        reader.settle()
        reader.fine()
        return str(reader.page.evaluate(SEEN, asked))

    yield texts
    for _, opened in readers.values():
        assert next(opened, None) is None


@pytest.fixture(scope="module")
def store(demo: Path) -> Iterator[zs.Store]:
    with zs.open(demo) as opened:
        yield opened


def rows(relation: Any) -> list[Row]:  # noqa: ANN401 - a relation of duckdb
    """Return the rows of a metric or statement."""
    return list(relation.to_arrow_table().to_pylist())


def statement(store: zs.Store, subject: str) -> Row:
    """Return the statement of a subject that comes first."""
    return rows(store.metric("statement", where=f"subject = '{subject}'").order("place").limit(1))[0]


def test_what_tls_costs(seen: Seen, store: zs.Store) -> None:
    known = "shared_by = 'system' AND part = 'TLS' AND high_cpu_s_per_day IS NOT NULL"
    costs = rows(store.metric("tls_price", where=known))
    low, high = (sum(row[f"{end}_cpu_s_per_day"] for row in costs) for end in ("low", "high"))
    whole = f"{low:,.0f} to {high:,.0f} s" if low else f"≤ {high:,.0f} s"
    assert high > 0
    assert whole in seen("", "TLS CPU cost, a day")
    assert whole in seen("tls_price", "All systems, a day")


def test_who_pays(seen: Seen, store: zs.Store) -> None:
    jobs = store.metric("tls_price", where="shared_by = 'job' AND part = 'TLS' AND high_cpu_s_per_day > 0")
    first, *_ = rows(jobs.order("high_cpu_s_per_day DESC, system, job_name").limit(1))
    answer = seen("tls_price", "Who pays?")
    assert re.search(rf"{first['system']}, {first['job_name']}\b", answer)
    assert re.search(rf"(at most|to) {shown(first['high_cpu_s_per_day'])}\b", answer)
    said = statement(store, "price")
    of_system = f"system = '{said['system']}' AND shared_by = 'job' AND part = 'TLS'"
    payer, *_ = rows(store.metric("tls_price", where=of_system).order("share_pct DESC").limit(1))
    assert f"job {payer['job_name']} has the largest share" in said["sentence"]
    assert f"{payer['system']}, {payer['job_name']}" in answer


def test_whether_it_is_getting_worse(seen: Seen, store: zs.Store) -> None:
    weeks = store.metric("period_difference", where="quantity = 'TLS cost' AND verdict <> 'not known'")
    changes = store.metric("tls_price_change", where="item = 'TLS' AND high IS NOT NULL")
    newest = rows(weeks.order("abs(change) DESC, system").limit(1)) or rows(
        changes.order("changed_utc DESC, system, changed").limit(1)
    )
    sentence = newest[0]["sentence"]
    assert re.search(r"\d", sentence)
    assert sentence in seen("", "Is it getting worse?")
    assert sentence in seen("tls_price", "Is it getting worse?")


def test_which_port_handshakes_most(seen: Seen, store: zs.Store) -> None:
    one_source = "source = 'zERT summary' AND tls_connections > 0"
    ports = rows(store.metric("protocol_distribution", by="server_port", where=one_source))
    first = max(ports, key=lambda row: row["tls_connections"])
    share = 100 * first["tls_connections"] / sum(row["tls_connections"] for row in ports)
    answer = seen("handshakes", "Which port handshakes most, and when?")
    assert f"port {first['server_port']}" in answer
    assert f"{first['tls_connections']:,} · {share:.1f} %" in answer


def test_what_limits_resumption(seen: Seen, store: zs.Store) -> None:
    counted = "source = 'GSKSRVR' AND basis = 'between displays'"
    [all_days] = rows(store.metric("resumption_rate", by=[], where=counted))
    resumed, full = all_days["resumed_handshakes"], all_days["full_handshakes"]
    not_offered = full - (all_days["lookups"] - all_days["hits"])
    answer = seen("handshakes", "Why do handshakes not resume?")
    for word, count in (("resumed", resumed), ("not offered", not_offered)):
        [pct] = re.findall(rf"{word} ([\d.]+) %", answer)
        assert float(pct) == pytest.approx(100 * count / (resumed + full), abs=1)
    for word in ("expired", "not found"):
        assert re.search(rf"{word} [\d.]+ %", answer)


def test_who_still_uses_old_versions(seen: Seen, store: zs.Store) -> None:
    said = statement(store, "old versions")
    [(count, job, port, system)] = re.findall(
        r"largest part of them, ([\d,]+), was of job (\w+), on port (\d+) of (\w+)\.", said["sentence"]
    )
    answer = seen("posture", "Who still uses TLSv1.1 or older?")
    assert f"{job}, port {port}, {system} {count}" in answer
    old = f"protocol <> 'none' AND job_name = '{job}' AND server_port = {port} AND system = '{system}'"
    clients = {row["client_ip"] for row in rows(store.metric("exposed_client", where=old))}
    assert len(clients) > 1
    assert clients <= {*re.findall(r"[\d.]+\d", answer)}


def test_which_certificate_ends_next(seen: Seen, store: zs.Store) -> None:
    valid = store.metric("certificate_inventory", where="days_left >= 0")
    first, *_ = rows(valid.order("days_left").limit(1))
    name, day = re.findall(r"earliest (\S+) on (\S+)\.$", statement(store, "certificates")["sentence"])[0]
    assert day == f"{first['not_after_utc']:%Y-%m-%d}"
    assert day in seen("", "Next certificate")
    assert f"{name} {first['days_left']} {day}" in seen("posture", "Which certificate ends next?")


def test_what_to_change_first(seen: Seen, store: zs.Store) -> None:
    said = statement(store, "saving")
    first, *_ = rows(store.metric("tls_advice", where=f"saving_high_s_per_day = {said['high']!r}").limit(1))
    high, value = (shown(said[name], "saving_high_s_per_day") for name in ("high", "value"))
    estimate = f", estimate {value}" if value and first["status"] == "estimate" else ""
    amount = f"{shown(said['low'])} to {high}" if said["low"] else f"at most {high}"
    assert first["change"] in said["sentence"]
    answer = seen("", "What to change first?")
    begin = answer.index(f"{first['change']} {amount}{estimate} {first['system']}")
    assert not re.search("at most| to ", answer[:begin].partition(")")[2])


def test_how_runs_compare_with_published_results(seen: Seen, store: zs.Store) -> None:
    verdicts = dict(store.metric("benchmark").aggregate("verdict, count(*)", "verdict").fetchall())
    question = "How do the runs compare with IBM's published results?"
    answer = seen("benchmark", question)
    assert f"published results: {verdicts['agrees']} agree, {verdicts['differs']} differ" in answer
    assert str(sum(verdicts.values())) in answer


def test_whether_the_data_can_be_trusted(seen: Seen, store: zs.Store) -> None:
    [(files,)] = store.sql("SELECT count(*) FROM load WHERE status = 'loaded'").fetchall()
    [(notes,)] = store.sql("SELECT count(*) FROM issue WHERE severity = 'note'").fetchall()
    lost = store.sql("SELECT 1 FROM issue WHERE severity <> 'note'").fetchall()
    answer = seen("quality", "Can the data be trusted?")
    assert re.search(r"All in all (Yes|No|In part)", answer)
    assert lost == []
    assert f"Nothing was lost in decoding. {files} files, {notes} notes" in answer
