"""Call a function for several names side by side, for each after those that it needs."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, wait
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from concurrent.futures import Executor, Future

Result = TypeVar("Result")


def results_side_by_side(
    pool: Executor, function: Callable[[str], Result], needed_by: Mapping[str, Collection[str]]
) -> list[Result]:
    """Return the results of a function for some names, each with the names that it needs.

    The function is called for a name after the calls for those that it needs have returned; needed names that
    are not among them are ignored. The first error is raised; what runs then goes on.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> done = []
    >>> with ThreadPoolExecutor(2) as pool:
    ...     results_side_by_side(pool, done.append, {"sum": ["part", "a table"], "part": []})
    [None, None]
    >>> done
    ['part', 'sum']
    """
    waiting = dict(needed_by)
    results: dict[str, Result] = {}
    running: dict[Future[Result], str] = {}
    while waiting or running:
        ready = [
            name
            for name, needs in waiting.items()
            if not any(other in needs for other in waiting.keys() | set(running.values()) if other != name)
        ]
        assert ready or running, f"these need each other: {', '.join(waiting)}"
        for name in ready:
            del waiting[name]
            running[pool.submit(function, name)] = name
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            results[running.pop(future)] = future.result()
    return [results[name] for name in needed_by]
