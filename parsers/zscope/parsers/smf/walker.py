"""Going through a file from record to record, across segments, blocks and damage.

A length is believed only when the place it leads to makes sense. Where it does not, either the length is
wrong, which shows in records that begin inside, or what follows is damaged. Then the next record is searched,
and what lies between is reported as a gap.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code
from zscope.parsers.smf import chain
from zscope.parsers.smf.buffer import DESCRIPTOR, SHORTEST_SEGMENT, Buffer, MoreNeeded, single
from zscope.parsers.smf.gap import Gap, counted, too_few, wrong_length
from zscope.parsers.smf.header import HEADER_LENGTH, Bytes, header_at
from zscope.parsers.smf.segments import FIRST, MIDDLE, NULL, Assembler

if TYPE_CHECKING:
    from collections.abc import Callable

ENDLESS = 1 << 62
SHORT_REACH = 1 << 9
"""Walking begins with a short stretch and takes longer ones as long as all is well. With the rest of the
buffer in view from the start, a file of many gaps would take time that grows with the square of its size."""
LONG_REACH = 1 << 17
"""From here on it is worth to prepare for many records at once."""


class Walker:
    """Takes one buffer after the other; knows between them where in the structure of the file it is."""

    def __init__(self, report: Callable[[Code, str, int, int | None], None], *, blocks: bool) -> None:
        self._report = report
        self._segments = Assembler(report)
        self._reach = SHORT_REACH
        # Found in the current buffer: starts of records (-1: it is among those put together from segments),
        # and which of them have their descriptor twice.
        self.starts = array("q")
        self.assembled: list[tuple[int, int, bytes]] = []
        self.doubled: set[int] = set()
        self.position = 0
        """In the buffer; what is before it is dealt with."""
        # Offsets in the file of the current block and its end; and the damage that is being passed.
        self._block, self._block_end = 0, 0 if blocks else ENDLESS
        self._gap: Gap | None = None

    def walk(self, data: Bytes, buffer: Buffer, base: int) -> None:
        """Go as far as this buffer allows; its first byte is at offset `base` of the file."""
        self._data, self._buffer, self._base = data, buffer, base
        self.starts, self.assembled, self.doubled = array("q"), [], set()
        self.position = 0
        try:
            while self.position < buffer.end or self._gap is not None:
                self._step()
        except MoreNeeded as more:
            if self._gap is not None and more.place is not None:
                self._gap.zeros = self._gap.zeros and not data[self.position : more.place].any()
                self.position = more.place

    def finish(self) -> None:
        """Report what the end of the file leaves open."""
        end = self._base + self._buffer.end
        if end < self._block_end < ENDLESS:
            missing = counted(self._block_end - end)
            text = f"the file ends inside a block: {missing} missing; transfer the file again"
            self._report(Code.TRUNCATED, text, end, self._block_end)
        self._segments.finish(end)

    def _step(self) -> None:
        """Get on by at least one byte, or change what is expected at this place; or ask for more bytes."""
        if self._gap is not None:
            self._search(self._gap)
            return
        here, buffer = self.position, self._buffer
        buffer.require(here)
        edge = self._block_end - self._base
        if here == edge:
            self._next_block(here)
            return
        if self._block_end == ENDLESS and buffer.block(here):
            self._enter(here)
            return
        limit = min(edge, buffer.limit)
        behind = buffer.behind_complete(here)
        if not here < behind <= limit:
            self._irregular(here, edge)
            return
        known = len(self.starts)
        stop = min(limit, max(behind, here + self._reach))
        if stop - here < LONG_REACH:
            reached = chain.follow(buffer.view, here, stop, stop, buffer.extra, self.starts)
        else:
            reached = chain.walk(buffer.view, here, stop, buffer.extra, self.starts)
        self._reach = min(4 * self._reach, ENDLESS)
        self._accept(known, reached, edge)

    def _accept(self, known: int, reached: int, edge: int) -> None:
        """Keep the records just walked as far as each leads to a place that makes sense."""
        starts, buffer = self.starts, self._buffer
        passed = 0
        suspects = chain.suspects(buffer.view, starts, known)
        for index, place in [*((i, starts[i]) for i in suspects), (len(starts), reached)]:
            walked = index < len(starts)
            if place < passed or (walked and self._believable(place)):
                continue
            if walked and buffer.block(place):
                self._keep(known, index, place)
                self._enter_unexpected(place)
                return
            try:
                if not walked and buffer.makes_sense(place, edge):
                    continue
                if index > known and buffer.swallows_others(starts[index - 1], place):
                    begin = starts[index - 1]
                    self._keep(known, index - 1, begin)
                    self._damage(begin, wrong_length(buffer.length(begin) - buffer.extra))
                    return
                if walked and (passed := buffer.behind_doubtful(place, edge)) < 0:
                    self._keep(known, index, place)
                    self._damage(place, "no SMF header follows a length word")
                    return
            except MoreNeeded:
                before = max(index - 1, known)
                self._keep(known, before, starts[before])
                raise
        self._keep(known, len(starts), reached)

    def _believable(self, place: int) -> bool:
        """Whether a record that did not look right at once has a believable header all the same."""
        buffer = self._buffer
        if header_at(buffer.view, place, buffer.end):
            return True
        if buffer.doubled(place):
            self.doubled.add(place)
            return True
        return False

    def _keep(self, known: int, index: int, position: int) -> None:
        """Of the records just walked keep those before this one, and go on at this position."""
        del self.starts[index:]
        if index > known:
            self._segments.drop("a complete record")
        self.position = position

    def _irregular(self, here: int, edge: int) -> None:
        """Deal with whatever stands where no plain record does."""
        buffer = self._buffer
        if buffer.block(here):
            self._enter_unexpected(here)
            return
        rest = buffer.end - here
        length, code, zero = chain.descriptor(buffer.view, here) if rest >= DESCRIPTOR else (0, 0, 0)
        total = length + buffer.extra
        shortest = SHORTEST_SEGMENT if code else HEADER_LENGTH
        if not zero and code <= MIDDLE and total >= shortest:
            self._piece(here, total, code, edge)
        elif code == NULL and not zero and length <= edge - here <= chain.LONGEST_IN_FILE:
            self._null_segment(here, edge)
        elif rest < HEADER_LENGTH and (self._block_end < ENDLESS or self._data[here : buffer.end].any()):
            self._cut_off(here, too_few(rest, "record"), self._segments.expecting)
        elif zero or code:
            self._damage(here, "no length word stands where a record should begin")
        else:
            self._damage(here, f"a length word says {length}, too few for a record")

    def _piece(self, here: int, total: int, code: int, edge: int) -> None:
        """A segment, or a record that does not fit into what is there: one that does was walked."""
        buffer, behind = self._buffer, here + total
        buffer.require(behind)
        if behind > edge:
            self._crossing(here, behind, edge)
        elif behind > buffer.end:
            if code <= FIRST and buffer.end - here >= HEADER_LENGTH and not buffer.head(here):
                self._damage(here, "no SMF header follows a length word")
            elif buffer.swallows_others(here, buffer.end):
                self._damage(here, wrong_length(buffer.length(here) - buffer.extra))
            else:
                inside = code > FIRST and self._segments.expecting
                self._cut_off(here, f"{total:,} bytes expected, {buffer.end - here:,} there", inside)
        else:
            self._segment(here, code, behind, edge)

    def _crossing(self, here: int, behind: int, edge: int) -> None:
        """A record that runs past its block: one of the two lengths is wrong."""
        buffer = self._buffer
        if not buffer.block(edge) and buffer.sound(behind):
            self._tell_wrong_block()
        else:
            self._damage(here, "a record runs past the end of its block")

    def _segment(self, here: int, code: int, behind: int, edge: int) -> None:
        buffer = self._buffer
        leads_on = buffer.makes_sense(behind, edge) or (behind != edge and buffer.continuation(behind))
        starts = code == FIRST and (behind - here < HEADER_LENGTH or buffer.head(here))
        expected = starts or (code != FIRST and self._segments.expecting)
        if not (leads_on and expected):
            if buffer.swallows_others(here, behind):
                self._damage(here, wrong_length(buffer.length(here) - buffer.extra))
                return
            if not leads_on and not expected:
                self._damage(here, "a segment stands here that belongs to no record")
                return
        complete = self._segments.take(code, buffer.view[here + DESCRIPTOR : behind], self._base + here)
        if complete:
            offset, record = complete
            self.assembled.append((len(self.starts), offset, single(record)))
            self.starts.append(-1)
        self.position = behind

    def _cut_off(self, here: int, detail: str, inside_segments: bool) -> None:
        """The file ends here; if that is inside a record in segments, all of them are told of at the end."""
        end = self._buffer.end
        if not inside_segments:
            self._segments.drop("another record")
            text = f"the file ends inside a record: {detail}; transfer the file again"
            self._report(Code.TRUNCATED, text, self._base + here, self._base + end)
        self._block_end = ENDLESS
        self.position = end

    def _next_block(self, here: int) -> None:
        """A block has ended, so another one should begin."""
        buffer = self._buffer
        if buffer.block(here) or buffer.block_by_its_end(here):
            self._enter(here)
        elif buffer.head(here):
            self._tell_wrong_block()
        elif self._segments.expecting and buffer.leads_on(here + DESCRIPTOR):
            self._block = self._base + here
            self._tell_wrong_block()
            self.position = here + DESCRIPTOR
        elif (rest := buffer.end - here) < DESCRIPTOR + HEADER_LENGTH and self._data[here : buffer.end].any():
            self._cut_off(here, too_few(rest, "block"), self._segments.expecting)
        else:
            self._damage(here, "no block begins where the one before ends")

    def _enter(self, place: int) -> None:
        self._block = self._base + place
        self._block_end = self._block + self._buffer.stated_block(place)
        self.position = place + DESCRIPTOR

    def _enter_unexpected(self, place: int) -> None:
        """Enter a block before the one around it has ended, if there was one."""
        if self._block_end < ENDLESS:
            self._tell_wrong_block()
        self._enter(place)

    def _tell_wrong_block(self) -> None:
        text = "the length word of a block is wrong; its records were read all the same"
        self._report(Code.DAMAGED_RANGE, text, self._block, self._block + DESCRIPTOR)
        self._block_end = ENDLESS
        self._reach = SHORT_REACH

    def _null_segment(self, here: int, edge: int) -> None:
        """Nothing more is in this block, if its end is where the next one begins."""
        buffer = self._buffer
        buffer.require(edge)
        if buffer.sound(edge) and not buffer.swallows_others(here, edge):
            self.position = edge
        else:
            self._damage(here, "a null segment stands here, but other data follow it in the block")

    def _damage(self, place: int, reason: str) -> None:
        """Start a gap; nothing begins at its first byte."""
        self._segments.drop("damaged data")
        begin = self._base + place
        at_block = begin == self._block_end
        in_block = self._block_end < ENDLESS and not at_block
        self._gap = Gap(begin, reason, at_block, zeros=not in_block and not self._data[place])
        self._block_end = ENDLESS
        self._reach = SHORT_REACH
        self.position = place + 1

    def _search(self, gap: Gap) -> None:
        """Look for the place behind a gap where records go on."""
        buffer = self._buffer
        found = buffer.resume(self.position)
        self._gap = None
        if found is None:
            gap.zeros = gap.zeros and not self._data[self.position : buffer.end].any()
            self.position = buffer.end
            end = self._base + buffer.end
            self._report(*gap.at_end(end), gap.begin, end)
            return
        self.position = found
        for place in (found - DESCRIPTOR, found):
            if self._base + place > gap.begin and buffer.block(place):
                self._enter(place)
                found = place
                break
        end = self._base + found
        if gap.where_block_should_be and end == gap.begin + DESCRIPTOR:
            self._block = gap.begin
            self._tell_wrong_block()
        else:
            self._report(*gap.before(end), gap.begin, end)
