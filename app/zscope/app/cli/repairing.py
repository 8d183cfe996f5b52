"""What a repair of the store did, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.pipelines.ingest.repair import LostRows, RepairResult


_INTERRUPTED = "removed by a repair that was interrupted"


def not_restored(done: RepairResult) -> bool:
    """Whether rows are still missing after a repair: files stay damaged, or were not loaded again."""
    loaded = {load.content_digest for report in done.reports for load in report.loads}
    wanted = (*done.plan.reloaded, *done.plan.continued)
    missing = done.reports and any(load.content_digest not in loaded for load in wanted)
    return bool(missing) or bool(done.plan.lost and not done.taken_out)


def describe_repair(done: RepairResult, *, dry_run: bool) -> Iterator[str]:
    """Yield the lines about a repair."""
    plan = done.plan
    if not plan.damaged and not plan.continued and not plan.not_continued:
        yield "no file is damaged"
        return
    would = "would be " if dry_run else ""
    for path, problem in plan.damaged.items():
        yield f"{path}: {problem}"
    for path in plan.computed_again:
        yield f"{path}: its rows {would or 'are '}computed again"
    for path in plan.from_backup:
        yield f"{path}: {would}restored from the backup"
    for load in plan.reloaded:
        yield f"load {load.load_id}, {load.file}: {would}loaded again"
    for load in plan.continued:
        yield f"load {load.load_id}, {load.file}: {_INTERRUPTED}; {would}loaded again"
    for number, why in plan.not_continued.items():
        yield f"load {number}: {_INTERRUPTED}; not loaded again: {why}"
    for lost in plan.lost:
        yield _lost_text(lost, taken_out=done.taken_out)
    if plan.lost and not done.taken_out:
        yield (
            "nothing is read from tables with damaged files; --backup DIR restores them from a copy of the "
            "store, --take-out gives up their rows"
        )


def _lost_text(lost: LostRows, *, taken_out: bool) -> str:
    days = f" of {lost.first_day}" if lost.first_day else ""
    if lost.last_day != lost.first_day:
        days += f" to {lost.last_day}"
    loads = ", ".join(map(str, lost.loads)) or "none"
    outcome = "lost, the file was taken out" if taken_out else "not restored"
    return f"{lost.path}: {lost.rows:,} rows of {lost.table}{days}, loads {loads}: {outcome}; {lost.why}"
