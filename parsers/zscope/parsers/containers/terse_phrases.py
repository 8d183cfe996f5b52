"""The growing dictionaries of the AMATERSE forms PACK and SPACK: from codes to joined text of symbols.

Packed SMF dumps are large, so no step walks through a phrase: the decoders store the text of entries in use,
and find the entry to replace in a queue that is cleaned up only while it is read, not in an ordered list.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from zscope.schemas.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterator

END_CODE: Final = 0
MARK: Final = 257
"""Symbol that ends a record of variable length; 1 to 256 are the bytes."""
FIRST_ENTRY: Final = 258
CODE_COUNT: Final = 4096
BLANK: Final = 0x40 + 1
"""Symbol of the EBCDIC blank, with which the PACK dictionary is filled at the start."""
PINNED: Final = 1 << 20
"""Use count of the single symbols: too high for the 3838 entries to bring it to 0, so they are never idle."""

MAX_PHRASE: Final = 1 << 20
"""Maximum number of bytes of one SPACK code. AMATERSE stops near 2047 symbols; only damage exceeds that."""
KEPT_PHRASE: Final = 16 << 10
"""Maximum length of a stored SPACK text; with 3838 entries this bounds the memory."""


class BadCodeError(Error):
    """The code at `index` of a batch has no meaning, for this `reason`."""

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(index, reason)
        self.index = index
        self.reason = reason


class Pack:
    """PACK: a phrase is an older phrase and one symbol; the least recently used leaf is replaced.

    The format description has one list in order of use, but only the oldest entry is needed. Each use of a
    phrase creates a child of it. A phrase without children was therefore last used when it was created, or
    when the child that it lost last was created. That child was the oldest entry, so its parent is now the
    oldest. The next entry to replace is the parent of the entry replaced last. If that parent has children
    again, it is the entry created first among those without children.
    """

    def __init__(self, singles: list[bytes]) -> None:
        blank, entries = singles[BLANK], CODE_COUNT - FIRST_ENTRY
        self._text = [*singles, *(blank * n for n in range(2, entries + 2))]
        self._first = [*singles, *([blank] * entries)]
        self._added = self._first.copy()
        self._parent = [0] * FIRST_ENTRY + [BLANK, *range(FIRST_ENTRY, CODE_COUNT - 1)]
        self._children = [PINNED] * FIRST_ENTRY + [1] * (entries - 1) + [0]
        self._created: deque[int] = deque()
        self._candidate = CODE_COUNT - 1
        self._pending = 0

    def decode(self, codes: list[int]) -> Iterator[bytes]:
        pieces: list[bytes] = []
        self._run(codes, pieces)
        yield b"".join(pieces)
        if (index := len(pieces)) < len(codes):
            raise BadCodeError(index, f"code {codes[index]} is the entry replaced in the same step")

    def _run(self, codes: list[int], pieces: list[bytes]) -> None:
        # The hot loop: all names are local and only C methods are called. One piece for each accepted code.
        text, first, added = self._text, self._first, self._added
        parent, children = self._parent, self._children
        oldest, created, emit = self._created.popleft, self._created.append, pieces.append
        candidate, pending = self._candidate, self._pending
        for code in codes:
            while children[candidate]:
                candidate = oldest()
            entry = candidate
            if code == entry:
                break
            candidate = parent[entry]
            children[candidate] -= 1
            added[pending] = initial = first[code]
            piece = text[code]
            if not piece:
                # Most entries are replaced unused, so the text is created at the first use.
                text[code] = piece = text[parent[code]] + added[code]
            emit(piece)
            text[entry] = b""
            first[entry] = initial
            parent[entry] = code
            children[code] += 1
            created(entry)
            pending = entry
        self._candidate, self._pending = candidate, pending


class Spack:
    """SPACK: a phrase is the last two phrases; the entry that was longest unused by others is replaced.

    An entry that comes into use stays in the queue and is skipped when it reaches the front. Its user was
    queued after it, so it cannot become unused before. Entries not created yet are at the front of the queue.
    """

    def __init__(self, singles: list[bytes]) -> None:
        entries = CODE_COUNT - FIRST_ENTRY
        self._text: list[bytes | None] = [*singles, *([None] * entries)]
        self._left = [0] * CODE_COUNT
        self._right = [0] * CODE_COUNT
        self._uses = [PINNED] * FIRST_ENTRY + [0] * entries
        self._idle = deque(range(FIRST_ENTRY, CODE_COUNT))
        self._last = 0
        self._sizes: dict[int, int] = {}
        self._long = 0
        self._fault = ""

    def decode(self, codes: list[int]) -> Iterator[bytes]:
        done = 0
        if not self._last:
            done = 1
            yield self._begin(codes[0])
        while done < len(codes):
            pieces: list[bytes] = []
            self._run(codes[done:], pieces)
            yield b"".join(pieces)
            done += len(pieces)
            if self._fault:
                raise BadCodeError(done, self._fault)
            if self._long:
                yield from self._spell(self._long)
                self._long = 0

    def _begin(self, code: int) -> bytes:
        text = self._text[code]
        if text is None:
            raise BadCodeError(0, _no_entry(code))
        self._last = code
        return text

    def _run(self, codes: list[int], pieces: list[bytes]) -> None:
        # The hot loop: all names are local and only C methods are called, except at the first use of entries;
        # one piece for each accepted code. A phrase that is too long gives an empty piece and ends the loop.
        text, left, right, uses = self._text, self._left, self._right, self._uses
        oldest, wait, emit = self._idle.popleft, self._idle.append, pieces.append
        last = self._last
        rest = iter(codes)
        for code in rest:
            entry = oldest()
            while uses[entry]:
                entry = oldest()
            part = left[entry]
            uses[part] = count = uses[part] - 1
            if not count:
                wait(part)
            part = right[entry]
            uses[part] = count = uses[part] - 1
            if not count:
                wait(part)
            text[entry] = None
            piece = text[code]
            if piece is None:
                piece = self._first_use(code, entry)
                if self._fault:
                    break
                if self._long:
                    list(rest)
            emit(piece)
            left[entry] = last
            right[entry] = code
            uses[last] += 1
            uses[code] += 1
            wait(entry)
            last = code
        self._last = last

    def _first_use(self, code: int, entry: int) -> bytes:
        """Make the text of an entry when it is first used; most are replaced without ever being used."""
        left, right = self._left[code], self._right[code]
        if code == entry or not left:
            self._fault = _no_entry(code)
            return b""
        # Both parts were named by codes themselves, so their text or at least its size is known.
        a, b = self._text[left], self._text[right]
        size = (self._sizes[left] if a is None else len(a)) + (self._sizes[right] if b is None else len(b))
        if a is not None and b is not None and size <= KEPT_PHRASE:
            self._text[code] = text = a + b
            return text
        if size > MAX_PHRASE:
            self._fault = f"phrase too long: code {code} stands for {size} bytes"
        self._sizes[code] = size
        self._long = code
        return b""

    def _spell(self, code: int) -> Iterator[bytes]:
        """Text of a phrase too long to keep, in pieces that are not."""
        stack, pieces, size = [code], list[bytes](), 0
        while stack:
            part = stack.pop()
            text = self._text[part]
            if text is None:
                stack += (self._right[part], self._left[part])
                continue
            pieces.append(text)
            size += len(text)
            if size > KEPT_PHRASE:
                yield b"".join(pieces)
                pieces, size = [], 0
        yield b"".join(pieces)


def _no_entry(code: int) -> str:
    return f"code {code} is a dictionary entry that does not exist"
