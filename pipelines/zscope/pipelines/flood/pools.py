"""What sessions compete for: bounded, first come first served, with a record of how much is in use."""

from __future__ import annotations

from collections import deque

from simpy import Environment, Event


class Log:
    """How a count changes over time."""

    __slots__ = ("count", "counts", "times")

    def __init__(self) -> None:
        """Begin with a count of nothing."""
        self.count = 0
        self.times: list[float] = []
        self.counts: list[int] = []

    def change(self, now: float, by: int) -> None:
        """Note that from now on there are more or fewer."""
        self.count += by
        self.times.append(now)
        self.counts.append(self.count)


class Pool:
    """So many of something."""

    __slots__ = ("_env", "_free", "_waiting")

    def __init__(self, env: Environment, size: int) -> None:
        """Begin with all of them free."""
        self._env = env
        self._free = size
        self._waiting: deque[Event] = deque()

    def take(self) -> Event | None:
        """Take one: at once, or when the event happens."""
        if self._free:
            self._free -= 1
            return None
        event = Event(self._env)
        self._waiting.append(event)
        return event

    def give(self) -> None:
        """Give one back; who waits longest has it."""
        if self._waiting:
            self._waiting.popleft().succeed()
        else:
            self._free += 1


class Threads:
    """The worker threads of a daemon, of which only some may start sessions at the same time."""

    __slots__ = ("_begun", "_data", "_env", "_free", "_in_use", "_new", "_numbers", "_starters")

    def __init__(self, env: Environment, workers: int, starters: int, in_use: Log) -> None:
        """Begin with all of them free; `in_use` is told of every change."""
        self._env = env
        self._free = workers
        self._starters = starters
        self._in_use = in_use
        self._numbers = 0
        # Each with the number under which it began to wait.
        self._begun: deque[tuple[int, Event]] = deque()
        self._new: deque[tuple[int, Event]] = deque()
        self._data: deque[tuple[int, Event]] = deque()

    def start(self, *, begun: bool) -> Event | None:
        """Take a thread for a handshake; one that has begun has precedence over those that have not."""
        if self._free and self._starters:
            self._starters -= 1
            self._take()
            return None
        return self._wait(self._begun if begun else self._new)

    def transfer(self) -> Event | None:
        """Take a thread for data transfer."""
        if self._free:
            self._take()
            return None
        return self._wait(self._data)

    def end_start(self) -> None:
        """Give back the thread of a handshake."""
        self._starters += 1
        self._give()

    def end_transfer(self) -> None:
        """Give back the thread of a data transfer."""
        self._give()

    def _take(self) -> None:
        self._free -= 1
        self._in_use.change(self._env.now, 1)

    def _wait(self, queue: deque[tuple[int, Event]]) -> Event:
        event = Event(self._env)
        self._numbers += 1
        queue.append((self._numbers, event))
        return event

    def _give(self) -> None:
        self._free += 1
        self._in_use.change(self._env.now, -1)
        # Where no start may have the thread, data transfer can; where one was just ended, one start can.
        starts = (self._begun or self._new) if self._starters else None
        if starts and not (self._data and self._data[0] < starts[0]):
            self._starters -= 1
            queue = starts
        elif self._data:
            queue = self._data
        else:
            return
        _, event = queue.popleft()
        self._take()
        event.succeed()
