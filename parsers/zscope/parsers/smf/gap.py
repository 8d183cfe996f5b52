"""A stretch of a file in which no record was found, and how damage is told."""

from __future__ import annotations

from dataclasses import dataclass

from zscope.parsers.issues import Code

TRANSFER_AGAIN = "transfer the file again in binary"


@dataclass(slots=True)
class Gap:
    """Where the chain of records broke, and why."""

    begin: int
    """Offset in the file."""
    reason: str
    where_block_should_be: bool
    """Whether the block before ends here."""
    zeros: bool
    """Whether it may be padding: all bytes seen so far are zero, and no block is unfinished."""

    def before(self, end: int) -> tuple[Code, str]:
        """What to tell when records go on at this offset."""
        text = (
            f"{counted(end - self.begin)} skipped: {self.reason}; the records before and behind were read; "
            f"{TRANSFER_AGAIN}"
        )
        return Code.DAMAGED_RANGE, text

    def at_end(self, end: int) -> tuple[Code, str]:
        """What to tell when the file ends without another record: the gap was padding, or damage."""
        size = counted(end - self.begin)
        if self.zeros:
            return Code.ZERO_PADDING, f"{size} of zeros at the end of the file ignored"
        text = (
            f"{size} at the end of the file skipped: {self.reason}; the records before were read; "
            f"{TRANSFER_AGAIN}"
        )
        return Code.DAMAGED_RANGE, text


def counted(count: int) -> str:
    """So many bytes, in words."""
    return "1 byte" if count == 1 else f"{count:,} bytes"


def too_few(rest: int, wanted: str) -> str:
    """That what is left of a file is too little."""
    return f"{counted(rest)} {'is' if rest == 1 else 'are'} left, too few for a {wanted}"


def wrong_length(length: int) -> str:
    """That a record claims others as its own."""
    return f"the length word of a record, {length:,}, is wrong: others begin inside it"
