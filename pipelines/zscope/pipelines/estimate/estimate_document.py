"""Render `docs/metrics/estimate.md`, about the estimate of the price of TLS."""

from __future__ import annotations

from pathlib import Path

from zscope.pipelines.estimate.statuses import sentences

COVERAGE_FILE = Path(__file__).with_name("coverage.md")
"""The tables of `make bench-coverage`."""
WORLDS_FILE = Path(__file__).with_name("worlds.md")
"""The table of `make bench-worlds`."""
_METHOD = """\
# The estimate of the price of TLS

`zscope.pipelines.estimate` estimates what handshakes and megabytes cost, from intervals with CPU time,
handshakes and bytes of TLS connections (`cost_interval`). Its results are in `cost_estimate` and
`cost_change`; the metrics `tls_price` and `tls_price_change` show them.

1. Intervals are added up to 15 minutes, or to 30 or 60 if they are longer. Gaps are never filled. At most the
   last 92 days are used.
2. Time effects are removed: the level of each day in local time, the daily curve (12 harmonics, 24 from 28
   days on; one for workdays and one for weekends from seven days on), and its height on each day. From a
   single day, a cubic curve is removed instead, and the levels have a range and no value.
3. Levels: a regression of CPU time on full handshakes, resumed handshakes and megabytes. Errors are
   autoregressive of order 4 (order 2 up to three days), outliers are winsorized (Huber), and the covariance
   comes from a jackknife over days.
4. Difference between full and resumed: a regression of CPU time on full handshakes at equal load, that is, on
   smooth functions of the number of handshakes and of the megabytes as well, and on these numbers themselves,
   because what TLS costs is proportional to them. From 60 days on, the full handshakes of the neighbouring
   intervals are included, because some handshakes are counted one interval early or late.
5. From the CPU time of the LPAR alone, a cost is a range. Its lower end is that of the difference for a full
   handshake, and 0 for the others; its upper end is that of the level. The only assumption is that other work
   does not decrease when handshakes increase within a day. If it does, the range is too low, and the data do
   not show it (worlds "opposite" below).
6. With the CPU time of the address spaces with TLS (SMF 30), a cost is an estimate. The same regression for
   the other address spaces shows how strongly other work is correlated with the handshakes; the interval is
   widened by that, in proportion to the CPU time that is not explained in the two groups of address spaces.
   If that is more than a quarter of the cost of a handshake, the interval has a condition and the range has
   none: from the difference to the level.

Each result has a status: `ok`, `conditional` or `refused`. These sentences state why, and what to do:

| code | status | sentence | what to do |
|---|---|---|---|
"""
_COVERAGE = """\

## How often the estimate holds

`make bench-coverage` simulates worlds with known costs and counts how often results contain them. The
standard deviations of other work and of the noise are once or three times that of the CPU time of TLS.

- `refused`: nothing is estimated; `only mean`: full and resumed handshakes are not estimated separately. % of
  the replicates.
- `before`: the intervals of an ordinary regression with a bootstrap of hours, for full/resumed/difference.
- `estimate`: the interval of the value if the clocks agree and no other work is correlated with the
  handshakes within a day. `difference` and `range` need no condition.
- `control zero`: % of the replicates in which the CPU time of the other address spaces is not correlated with
  the handshakes.
- The numbers in these columns are the % of the replicates in which they contain the truth; `+-` is half the
  median width in % of the truth.
- `seen`: % of the replicates whose interval of the change does not contain zero. In the rows "smallest
  visible", a full handshake is cheaper by the median of the smallest visible change, which has to be seen 80
  times in 100 (70 to 90 in the simulation).
- `met`: at least 90 % for all that needs no condition, and for estimates in worlds where their condition
  holds (all but "shock", "opposite" and "counted early"); for 1 and 3 days two standard errors less. The
  iid, AR and curve worlds of 14 days are refused at most 5 times in 100. "shock that grows" misses it by
  chance at 90 days: the difference is held by 89 % of 300 replicates, and by 94 % of 1,000.

"""
_WORLDS = """
`make bench-worlds` goes the whole way: it writes worlds as SMF dumps, loads them and reads `tls_price` and
`handshake_cost` from the command line. Noise is 5 % of the CPU time of an interval. In the worlds "curve",
other work follows the load of the day; in the world "shock" it also follows the connections from interval to
interval. One of the four systems of a world has SMF 30 (address spaces with TLS). The columns count the
replicates that contain the truth.

"""


def estimate_document() -> str:
    """Return the page."""
    rows = (
        f"| `{code}` | {entry.status} | {entry.sentence} | {entry.action} |\n"
        for code, entry in sentences().items()
    )
    coverage, worlds = (file.read_text(encoding="utf-8") for file in (COVERAGE_FILE, WORLDS_FILE))
    return _METHOD + "".join(rows) + _COVERAGE + coverage + _WORLDS + worlds
