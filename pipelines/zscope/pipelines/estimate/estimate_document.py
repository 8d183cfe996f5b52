"""Render the page about the estimate of the TLS CPU cost."""

from __future__ import annotations

from pathlib import Path

from zscope.pipelines.estimate.statuses import sentences

COVERAGE_FILES = {
    name: Path(__file__).with_name(f"coverage_{name}.md") for name in ("kinds", "lpar", "changes")
}
"""The tables of `make bench-coverage`."""
WORLDS_FILE = Path(__file__).with_name("worlds.md")
"""The table of `make bench-worlds`."""
_METHOD = """\
# The estimate of the TLS CPU cost

`zscope.pipelines.estimate` estimates what handshakes and megabytes cost, from intervals with CPU time,
handshakes and bytes of TLS connections (`cost_interval`). Its results are in `cost_estimate` and
`cost_change`; the metrics `tls_price` and `tls_price_change` show them.

1. Intervals are added up to 15 minutes, or to 30 or 60 if they are longer. Gaps are never filled. At most
   the last 92 days are used.
2. Time effects are removed: the level of each day in local time, the daily curve (12 harmonics, 24 from
   28 days on; one for workdays and one for weekends from seven days on), and its height on each day. From
   a single day, a cubic curve is removed instead.
3. Counts come from SMF 119, CPU time from SMF 70 or SMF 30. If their clocks clearly differ, counts are moved
   by some minutes to the times of the CPU time (kriging, from the counts of three intervals), and if
   intervals of SMF 30 begin between those of SMF 70, to the times of both. Clear is a likelihood ratio of
   more than 25 (twice its logarithm), on most days, and at least half of what free weights of the
   neighbouring intervals explain; no address space may contradict it. From moved counts there are only
   ranges. A difference of 14 minutes or more is refused.
4. Levels: regressions of CPU time on full handshakes, resumed handshakes and megabytes: one for the address
   spaces of the TCP/IP stacks, one for those of each job with at least 5 % of the handshakes, and one for
   those of the other jobs with TLS (SMF 30), or one for the LPAR. In the stacks, full handshakes of each of
   these jobs are a column of their own, as they differ by key exchange and certificate. Connections and
   megabytes without TLS, and datagrams of no connection, are columns where they are known. Errors are
   autoregressive of order 4 (order 2 up to three days), outliers are winsorized (Huber), and the covariance
   comes from a jackknife over days; intervals of a sum over address spaces come from the sum of its
   deviations.
5. What moves with TLS in the address space of a server is TLS and what the server does for a connection,
   and no statistics of ordinary intervals separate the two. So each cost is a range. Its lower end is
   what moves in the stacks, which run no application: full less resumed handshakes, or all handshakes and
   bytes less three halves of what connections without TLS cost there. Its upper end is all that moves,
   less two thirds of that. From the CPU time of the LPAR alone, the range begins at 0.
6. The upper end assumes that other work does not fall when handshakes rise within a day. It allows for a
   correlation of -0.3 with the LPAR's CPU time that is not explained, and of -0.1 with that of the
   address spaces.
7. Where full handshakes cost more than resumed ones in the stacks and not in the jobs, handshakes are
   charged to the stack (`charged_to`), and what they cost there more than connections without TLS is a
   value on that condition. Where the same is seen of jobs and nothing of it in the stacks, they are
   charged to the caller. Work for new clients, such as a logon, looks the same in a job, so then it is
   not known.
8. A range of which half the width is at most 10 % of the middle is an estimate.
9. Difference between full and resumed from the CPU time of the LPAR: a regression of CPU time on full
   handshakes at equal load, that is, on smooth functions of the number of handshakes and of the megabytes
   as well, and on these numbers themselves, because what TLS costs is proportional to them. From 60 days
   on, the full handshakes of the neighbouring intervals are included, because some handshakes are counted
   one interval early or late. It contains what servers do for new clients only.
10. Jobs: a job with at least 5 % of the handshakes, and with SMF 30 for at least 80 % of the time, has a
   range of its own, from the regression of its address spaces and from one of the stacks that has resumed
   handshakes and megabytes by job as well. Ends and value follow from both as for a system. The regression
   of the stacks has more coefficients, so the ranges of all jobs together are wider than that of the system.

Each result has a status: `estimate` (the range is narrow), `conditional` (a value on the condition in its
sentence), `range` (no value) or `not enough data`. Before, these were `ok`, `conditional` and `refused`,
and what is a range now was `ok` or `conditional`. These sentences state why, and what to do:

| code | status | sentence | what to do |
|---|---|---|---|
"""
_COVERAGE = """\

## How often the estimate holds

`make bench-coverage` simulates worlds with known costs and counts how often results contain them. The
standard deviations of other work and of the noise are once or three times that of the CPU time of TLS.

"""
_TABLES = {
    "kinds": """\
### Systems with applications

Three jobs work for their connections, and the records of address spaces and of connections without TLS are
loaded or not. `zscope.samples.space_worlds` has the parameters of each kind of world. Ranges are medians, as
shares of what TLS costs. This command makes the table again:

```sh
.venv/bin/python benchmarks/coverage.py --tables kinds --write-docs
```

- `reference` is the range that another implementation of the method had with the same records, in worlds of
  the same kind, and `width` how many times as wide as it the range is.
- `holds`: % of the replicates whose range contains the truth, and `jobs` the same of the ranges of the jobs,
  which have 60, 30 and 10 % of the connections. `value holds`: % of the 95 % intervals of
  the conditional value of the handshakes that do.
- `estimates wrong`: % of the estimates that are more than 10 % off.
- `in stack/caller/not known`: % of the replicates by where handshakes are said to be charged.
- `met`: each range holds in at least 95 % of the replicates (90 % with rare connections without TLS, and with
  datagrams that are not counted), no estimate is wrong, and `width` is at most 1.15. If the system is at the
  limit of its capacity, `met` means that nothing is estimated. What is not met is a limit of the estimate.
- The value does not hold where its condition is not true or cannot be seen: datagrams that follow the
  handshakes and are not counted, costs that grow with the load, and handshakes of which only the work with
  the private key is in the stack.
- Datagrams that follow the handshakes and are not counted (SMF 119-5) look like TLS in the stack. The smaller
  the job, the larger their part: its range can lie above what TLS costs it.
- Other work in the address spaces of the servers that falls when handshakes rise by more than the correlation
  of -0.1 that is allowed for: the upper end is too low, and no data of these intervals show it.
- Not in the table: test handshakes that are unlike the real ones, which are a matter of the
  [experiment](../../benchmarks.md#the-experiment).

""",
    "lpar": """\
### The CPU time of the LPAR

Without applications, in worlds with other work:

- `not enough data`: nothing is estimated; `only mean`: full and resumed handshakes are not estimated
  separately. % of the replicates.
- `difference` is at equal load, with its range from 0.
- The numbers in these columns are the % of the replicates in which they contain the truth; `+-` is half
  the median width in % of the truth.
- `met`: at least 90 %; for 1 and 3 days two standard errors less. The iid, AR and curve worlds of 14 days
  have not enough data at most 5 times in 100.

""",
    "changes": """\
### Changes

- `verdicts of a change`: % of the pairs whose interval per connection does not contain zero; without a change
  of costs or resumption at most 5. `smallest visible` is in % of the price, as the median.
- With 30 % more connections there is no change per connection. LPAR is conditional: if the servers do as much
  per connection as before, and as many clients are new. Where new clients log on (world "logon"), that is not
  true if the resumption changes.

""",
}
_WORLDS = """\
### From dumps to metrics

`make bench-worlds` goes the whole way: it writes worlds as SMF dumps, loads them and reads `tls_price` and
`handshake_cost` from the command line. Noise is 5 % of the CPU time of an interval. In the worlds "curve",
other work follows the load of the day; in the world "shock" it also follows the connections from interval to
interval. One of the four systems of a world has SMF 30 (address spaces with TLS). The columns count the
replicates that contain the truth. The table is older than the ranges of prices: it has the former
statuses, and its truth includes opening and closing connections and all of the cost of their bytes. New
runs count what handshakes and bytes cost more than connections without TLS, also in worlds whose servers
work for their connections. They also count the ranges of jobs: in the worlds "stack", "callers" and "half"
with servers that work 1 s for a connection, four seeds each, 48 of 48 hold.

"""


def estimate_document() -> str:
    """Return the page."""
    rows = (
        f"| `{code}` | {entry.status} | {entry.sentence} | {entry.action} |\n"
        for code, entry in sentences().items()
    )
    tables = (f"{_TABLES[name]}{file.read_text(encoding='utf-8')}\n" for name, file in COVERAGE_FILES.items())
    worlds = _WORLDS + WORLDS_FILE.read_text(encoding="utf-8")
    return "".join([_METHOD, *rows, _COVERAGE, *tables, worlds])
