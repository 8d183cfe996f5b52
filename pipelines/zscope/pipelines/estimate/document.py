"""The section of `docs/metrics.md` about the estimate: the method, the statuses, and how often it holds."""

from __future__ import annotations

from pathlib import Path

from zscope.pipelines.estimate.statuses import sentences

COVERAGE_FILE = Path(__file__).with_name("coverage.md")
"""The tables of `make bench-coverage`."""
_METHOD = """\
## The estimate of the price of TLS

`zscope.pipelines.estimate` estimates what handshakes and bytes cost from intervals with CPU time, handshakes
and bytes of TLS connections. The metrics above do not use it yet.

1. The intervals are added up to 15 minutes, or to 30 or 60 if they are longer. Gaps are never filled. At
   most the last 92 days count.
2. The level of each day of the system's clock, the daily curve (12 harmonics, 24 from 28 days on; workdays
   and weekends apart from seven days on) and its height on each day are taken out. Of a single day it is a
   cubic curve, and levels are stated as ranges without a value.
3. Levels: a regression of CPU time on full handshakes, resumed handshakes and megabytes. Its noise is
   autoregressive (four intervals; two up to three days), outliers are clipped (Huber), and
   the interval comes from fits without one day each (jackknife).
4. Difference between full and resumed: the same regression on full handshakes at equal load, with smooth
   functions of the number of handshakes and of the megabytes beside it. From 60 days on the handshakes of the
   interval before and after count as well, as some can be counted early or late.
5. With the CPU time of the LPAR alone a level is a range. At least: the lower end of the difference for a
   full handshake, 0 for the others. At most: the upper end of the level. The only assumption is that other
   work does not fall when handshakes rise within the day. If it does, the range is too low and does not show
   it (rows "gives way" below).
6. With the CPU time of the address spaces with TLS (SMF 30) a level is an estimate. What handshakes seem to
   cost in the other address spaces widens its interval, in proportion to the CPU time that TLS does not
   explain.

Each result has a status: `ok`, `conditional` or `refused`. These sentences state why, and what to do:

| code | status | sentence | what to do |
|---|---|---|---|
"""
_COVERAGE = """\

### How often the estimate holds

`make bench-coverage` simulates worlds with known costs and counts how often results contain them. Other work
and noise are as large as the CPU time of TLS itself, or three times as large, measured by their standard
deviations.

- `refused`: nothing is estimated. `only mean`: no costs of full and resumed handshakes. % of the replicates.
- `before`: the intervals of `handshake_cost`, whatever its status, for full/resumed/difference.
- `estimate`: the interval of the value if the clocks agree and nothing else follows the handshakes from
  interval to interval. `difference` and `range` need no condition.
- The numbers in these columns are the % of the replicates in which they contain the truth; `+-` is half the
  median width in % of the truth.
- `met`: at least 90 % for all that needs no condition, and for estimates in worlds where their condition
  holds (all but "shock", "gives way" and "counted early"); for 1 and 3 days two standard errors less. The
  iid, AR and curve worlds of 14 days are refused at most 5 times in 100.

"""


def estimate_document() -> str:
    """Return the section."""
    rows = (
        f"| `{code}` | {entry['status']} | {entry['sentence']} | {entry.get('action', '')} |\n"
        for code, entry in sentences().items()
    )
    return _METHOD + "".join(rows) + _COVERAGE + COVERAGE_FILE.read_text(encoding="utf-8")
