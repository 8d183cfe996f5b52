"""The one detector: by the first bytes of an input, which reader it is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.parsers.containers.terse import foreign_terse
from zscope.parsers.inputs import NothingThereError, members_of
from zscope.parsers.issues import Code, InputError
from zscope.parsers.smf.dump import Dump
from zscope.parsers.smf.framing import HEAD_BYTES, detect
from zscope.parsers.smf.refusal import foreign, refuse
from zscope.parsers.text.coding import Coding, detect_coding
from zscope.parsers.text.source import Reports, looks_like_json, looks_like_xml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.parsers.containers.source import Member
    from zscope.parsers.inputs import Options, Paths, Source
    from zscope.parsers.issues import Issues


def source_of(member: Member, options: Options, issues: Issues) -> Source:
    """What a member is, or an InputError with what it is instead.

    Text is asked for first: what is nearly all printable is no dump, while a few bytes of nearly anything can
    pass for a length word. A framing that the caller names settles it.
    """
    head = member.stream.peek(HEAD_BYTES + 1)
    if not head and member.stream.damaged:
        raise NothingThereError
    if foreign_terse(head):
        raise InputError(refuse(head, member.name, Code.TERSE_FOREIGN))
    if options.framing is None:
        if (code := foreign(head)) is not None:
            raise InputError(refuse(head, member.name, code))
        if looks_like_xml(head):
            return Reports(member, Coding("xml"), options, issues, "xml")
        if coding := detect_coding(head[:HEAD_BYTES], whole=len(head) <= HEAD_BYTES):
            kind = "json" if looks_like_json(head, coding) else "text"
            return Reports(member, coding, options, issues, kind)
    framing = options.framing or detect(head[:HEAD_BYTES], whole=len(head) <= HEAD_BYTES, file=member.name)
    return Dump(member, framing, options, issues)


def sources(paths: Paths, options: Options, issues: Issues) -> Iterator[Source]:
    """A source for each input that can be read; all else becomes an issue."""
    for member in members_of(paths, issues):
        try:
            source = source_of(member, options, issues)
        except NothingThereError:
            continue
        except InputError as error:
            issues.add(error.issue)
            continue
        yield source
