"""Encoders for the AMATERSE forms PACK and SPACK, choosing the very codes that z/OS chooses.

They make test data and generated dumps, and being exact they prove the decoders' dictionaries step by step.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

import numpy as np

from zscope.parsers.containers.streams import FLAG_MVS, HEADER_SIZE, VERSIONS, Form
from zscope.parsers.containers.terse import TerseHeader
from zscope.parsers.containers.terse_phrases import BLANK, CODE_COUNT, END_CODE, FIRST_ENTRY, MARK, PINNED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FILE_UNIT: Final = 1024
MAX_BLOCK: Final = 27998
"""Half a 3390 track, the block size z/OS picks for new data sets."""
MAX_RECORD: Final = 0xFFFF
MAX_MATCH: Final = 2047
"""Longest phrase for which an SPACK code is written; longer phrases are created but not used."""
SAMPLE_FLAGS: Final = 0x08 | FLAG_MVS
"""Flags that z/OS writes for both fixed and variable data."""


def pack(records: Iterable[bytes], *, variable: bool, record_length: int, form: Form) -> bytes:
    """Pack records into a whole file. `record_length` is the longest data; the RDW does not count.

    An empty last variable record is lost on unpacking: the format only has marks between records.

    >>> pack([b"\\xc1" * 20], variable=False, record_length=20, form="PACK")[12:23].hex()
    '0c2fffffeffdffcffc0000'
    """
    if not 0 < record_length <= MAX_RECORD:
        raise ValueError(f"record length {record_length} is not within 1 to {MAX_RECORD}")
    symbols = _symbols(records, variable, record_length)
    block_size = MAX_BLOCK if variable else max(MAX_BLOCK // record_length, 1) * record_length
    header = TerseHeader(form, variable, record_length, block_size, SAMPLE_FLAGS)
    return packed_file(header, pack_codes(symbols) if form == "PACK" else spack_codes(symbols))


def packed_file(header: TerseHeader, codes: Sequence[int]) -> bytes:
    """Header, codes, end code and filler: a whole file from codes chosen by hand."""
    version = next(version for version, form in VERSIONS.items() if form == header.packed)
    head = bytes((version, header.variable)) + header.record_length.to_bytes(2) + bytes((header.flags, 0))
    head += header.block_size.to_bytes(2)
    data = head.ljust(HEADER_SIZE, b"\0") + join_codes([*codes, END_CODE])
    return data + bytes(-len(data) % FILE_UNIT)


def join_codes(codes: Sequence[int]) -> bytes:
    """Write two codes of 12 bits into three bytes; a lone last one is followed by a zero nibble."""
    pairs = np.array([*codes, 0] if len(codes) % 2 else codes, np.uint16).reshape(-1, 2)
    triples = np.empty((len(pairs), 3), np.uint8)
    triples[:, 0] = pairs[:, 0] >> 4
    triples[:, 1] = (pairs[:, 0] & 0xF) << 4 | pairs[:, 1] >> 8
    triples[:, 2] = pairs[:, 1] & 0xFF
    return triples.tobytes()[: (len(codes) * 3 + 1) // 2]


def _symbols(records: Iterable[bytes], variable: bool, record_length: int) -> list[int]:
    symbols: list[int] = []
    for number, record in enumerate(records, 1):
        if len(record) > record_length or (not variable and len(record) < record_length):
            raise ValueError(f"record {number} has {len(record)} bytes, not {record_length}")
        if variable and number > 1:
            symbols.append(MARK)
        symbols += [byte + 1 for byte in record]
    return symbols


def _edge(code: int, symbol: int) -> int:
    # One integer is a faster dictionary key than a pair. Symbols fit in 9 bits.
    return code << 9 | symbol


def pack_codes(symbols: Sequence[int]) -> list[int]:
    """Choose PACK codes: each is the longest known phrase, each makes that phrase plus the next symbol known.

    The dictionary ages as in the decoder, which explains why a queue and a count of children suffice.
    """
    # One loop over symbols with everything local: it runs once per input byte.
    entries = range(FIRST_ENTRY, CODE_COUNT)
    parent = [0] * FIRST_ENTRY + [BLANK, *entries[:-1]]
    children = [PINNED] * FIRST_ENTRY + [1] * (len(entries) - 1) + [0]
    edge_of = [-1] * FIRST_ENTRY + [_edge(parent[entry], BLANK) for entry in entries]
    known = {edge_of[entry]: entry for entry in entries}
    created: deque[int] = deque()
    candidate, pending = entries[-1], 0
    codes: list[int] = []
    rest = iter(symbols)
    symbol = next(rest, END_CODE)
    while symbol:
        while children[candidate]:
            candidate = created.popleft()
        entry = candidate
        known.pop(edge_of[entry], None)
        edge_of[entry] = -1
        candidate = parent[entry]
        children[candidate] -= 1
        # If all entries form a single phrase, the entry created last is the next one replaced.
        if pending and pending != entry:
            edge_of[pending] = edge = _edge(parent[pending], symbol)
            known[edge] = pending
        match = symbol
        symbol = next(rest, END_CODE)
        while longer := known.get(match << 9 | symbol):
            match = longer
            symbol = next(rest, END_CODE)
        codes.append(match)
        parent[entry] = match
        children[match] += 1
        created.append(entry)
        pending = entry
    return codes


class _Phrases:
    """The texts of the SPACK entries as a tree of symbols, for the longest match at a place in the input.

    Entries may spell the same text; the first of a node's owners is the one created first.
    """

    def __init__(self, symbols: Sequence[int]) -> None:
        self._symbols = symbols
        self._next: dict[int, int] = {}
        self._edge_to: dict[int, int] = {}
        self._branches: dict[int, int] = {}
        self._owners: dict[int, list[int]] = {}
        self._node_of: dict[int, int] = {}
        self._nodes = MARK

    def longest(self, start: int) -> tuple[int, int]:
        """Code of the longest phrase that the input shows at `start`, and where that phrase ends."""
        symbols, follow, owners = self._symbols, self._next.get, self._owners
        node = symbols[start]
        code, end = node, start + 1
        for place in range(start + 1, len(symbols)):
            following = follow(node << 9 | symbols[place])
            if following is None:
                break
            node = following
            if node in owners:
                code, end = owners[node][0], place + 1
        return code, end

    def add(self, entry: int, first: int, start: int, end: int) -> None:
        """Let `entry` spell the input from where the phrase of code `first` has ended to `end`."""
        node = self._node_of.get(first, first)
        for place in range(start, end):
            edge = _edge(node, self._symbols[place])
            following = self._next.get(edge)
            if following is None:
                self._nodes += 1
                following = self._next[edge] = self._nodes
                self._edge_to[following] = edge
                self._branches[node] = self._branches.get(node, 0) + 1
            node = following
        self._node_of[entry] = node
        self._owners.setdefault(node, []).append(entry)

    def drop(self, entry: int) -> None:
        """Remove `entry` and the nodes without further entries."""
        node = self._node_of.pop(entry, 0)
        if not node:
            return
        self._owners[node].remove(entry)
        if not self._owners[node]:
            del self._owners[node]
        while node > MARK and node not in self._owners and not self._branches.get(node):
            edge = self._edge_to.pop(node)
            del self._next[edge]
            self._branches.pop(node, None)
            node = edge >> 9
            self._branches[node] -= 1


def spack_codes(symbols: Sequence[int]) -> list[int]:
    """Choose SPACK codes: each is the longest known phrase, and makes the last phrase plus itself known."""
    if not symbols:
        return []
    phrases = _Phrases(symbols)
    left, right = [0] * CODE_COUNT, [0] * CODE_COUNT
    uses = [PINNED] * FIRST_ENTRY + [0] * (CODE_COUNT - FIRST_ENTRY)
    idle = deque(range(FIRST_ENTRY, CODE_COUNT))
    codes = [symbols[0]]
    begin, place = 0, 1
    while place < len(symbols):
        entry = idle.popleft()
        while uses[entry]:
            entry = idle.popleft()
        for part in (left[entry], right[entry]):
            uses[part] -= 1
            if not uses[part]:
                idle.append(part)
        phrases.drop(entry)
        code, end = phrases.longest(place)
        if end - begin <= MAX_MATCH:
            phrases.add(entry, codes[-1], place, end)
        left[entry], right[entry] = codes[-1], code
        uses[codes[-1]] += 1
        uses[code] += 1
        idle.append(entry)
        codes.append(code)
        begin, place = place, end
    return codes
