"""Read declarations and settings: a TOML file becomes typed objects, or an error that says what is allowed.

What a file contains is declared as classes derived from `Declared`. A misspelt key, a missing key and a value
of a wrong type are errors with file, line, key and what is allowed; all of a file are reported together:

    class Question(Declared, frozen=True):
        id: str
        tables: tuple[str, ...]
        severity: Literal["high", "low"] = "low"
        from_hour: Annotated[int, Allowed("an hour from 0 to 23", hour)] = field(name="from", default=0)

    questions = TomlFile.read(path).typed(dict[str, Question])

What the types cannot say is checked by `Allowed`, which has a function for a value, by `__post_init__` of the
class, which can raise `WrongValueError` with the key, or after reading, with `TomlFile.error`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, get_args, get_origin

import msgspec
from msgspec.structs import FieldInfo, fields

from zscope.schemas.allowed import (
    LISTS,
    MAPPINGS,
    allowed,
    example,
    is_table,
    shortened,
    without_annotations,
    words_of,
)
from zscope.schemas.errors import DeclarationError, Error
from zscope.schemas.parsed_toml import parsed_toml
from zscope.schemas.suggestions import with_suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from importlib.resources.abc import Traversable

    from zscope.schemas.toml_lines import KeyPath

T = TypeVar("T")
LONGEST_LABEL = 64
_LABELS = ("id", "name", "key", "column")
"""Keys whose values name an element of a list in messages."""


class Declared(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The base of the classes for tables in declarations and settings."""


class WrongValueError(Error, ValueError):
    """Raised by `__post_init__` of a declared class: a key with a value that the others do not allow."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(problem)
        self.key = key


class TomlFile(msgspec.Struct, frozen=True, dict=True):
    """A TOML file: its content, and where each key is."""

    name: str
    """The path of a file of a user, or the name of a file of the installation."""
    text: str
    content: dict[str, Any]
    errors: type[DeclarationError] = DeclarationError

    @classmethod
    def read(
        cls, file: Traversable, name: str | None = None, errors: type[DeclarationError] = DeclarationError
    ) -> TomlFile:
        """Read a file; `name` is for messages, and none is given for a file of the installation."""
        kept = partial(parsed_toml, file) if name is None and isinstance(file, Path) else tomllib.loads
        name = file.name if name is None else name
        try:
            return cls.parse(file.read_bytes().decode(), name, errors, kept)
        except OSError as error:
            raise errors(name, "", f"cannot be read: {error.strerror or error}") from error
        except UnicodeDecodeError as error:
            raise errors(name, "", f"is not UTF-8 text (byte {error.start})") from error

    @classmethod
    def parse(
        cls,
        text: str,
        name: str,
        errors: type[DeclarationError] = DeclarationError,
        loads: Callable[[str], dict[str, Any]] = tomllib.loads,
    ) -> TomlFile:
        """Parse the text of a file.

        >>> TomlFile.parse("[load]\\nfolder = 'new'", "nightly.toml").error(("load", "folder"), "is wrong")
        DeclarationError('nightly.toml, line 2: load.folder: is wrong')
        """
        text = text.removeprefix("\ufeff")
        try:
            return cls(name, text, loads(text), errors)
        except RecursionError as error:
            raise errors(name, "", "is nested too deeply") from error
        except ValueError as error:  # TOMLDecodeError is one, and so is a date such as 2026-02-30
            line = re.search(r"\(at line (\d+), column \d+\)", str(error))
            raise errors(name, "", f"is not TOML: {error}", int(line[1]) if line else None) from error

    def typed(self, declared: type[T], content: object = None, path: KeyPath = ()) -> T:
        """Return the content, or the part of it at a path, as an object of a type.

        `content` replaces what is in the file, where entries inherit values from others.
        """
        raw = self._at(path) if content is None else content
        if not _has_readers(cast("Hashable", declared)):
            try:
                return _converted(raw, declared)
            except msgspec.ValidationError:
                pass  # which finds one problem, without its line
        check = _Check(self)
        prepared = check.prepared(declared, raw, path)
        check.raise_problems()
        try:
            return _converted(prepared, declared)
        except msgspec.ValidationError as error:
            raise self.error(path, str(error)) from error

    def error(self, path: KeyPath, problem: str) -> DeclarationError:
        """Return an error about the value at a path."""
        return self.errors(self.name, self.key(path), problem, self.line(path))

    def line(self, path: KeyPath) -> int | None:
        """Return the line of a key; if it is missing, that of the table without it."""
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines[path] if path else None

    def key(self, path: KeyPath) -> str:
        """Return a path as text, with the names of the elements of lists that have one.

        >>> content = {"check": [{"id": "old-cipher", "of": 1}]}
        >>> TomlFile("checks.toml", "", content).key(("check", 0, "of"))
        'check[old-cipher].of'
        """
        text, place = "", self.content
        for part in path:
            place = _below(place, part)
            if isinstance(part, int):
                text += f"[{_label(place, part)}]"
            else:
                name = part if part.isprintable() else repr(part)
                text += f".{name}" if text else name
        return text

    @property
    def folder(self) -> Path:
        """The folder of the file, where relative paths begin."""
        return Path(self.name).absolute().parent

    @cached_property
    def _lines(self) -> Mapping[KeyPath, int]:
        from zscope.schemas.toml_lines import key_lines  # only messages need it

        return key_lines(self.text)

    def _at(self, path: KeyPath) -> object:
        place: Any = self.content
        for part in path:
            place = place[part]
        return place


def _unknown(key: str, declared: Mapping[str, FieldInfo]) -> str:
    """Return what is wrong with a key: another table has it, or none."""
    tables = {name: without_annotations(each.type)[0] for name, each in declared.items()}
    having_it = [
        f"[{name}]"
        for name, table in tables.items()
        if is_table(table) and key in {each.encode_name for each in _fields_of(table)}
    ]
    if having_it:
        return f"is not a valid key here; it belongs to {' or '.join(having_it)}"
    return with_suggestion(f"is not a valid key; valid: {', '.join(declared)}", key, declared)


def _converted(raw: object, declared: type[T]) -> T:
    # Without `builtin_types` a text would be accepted as a time.
    return msgspec.convert(raw, declared, str_keys=True, builtin_types=(datetime, date, time))


def _below(place: Any, part: str | int) -> Any:  # noqa: ANN401 - a value of TOML
    """The value of a key or the element of a list; None if there is none."""
    if isinstance(place, dict):
        return place.get(part)
    return place[part] if isinstance(place, list) and isinstance(part, int) and part < len(place) else None


def _label(element: object, position: int) -> str:
    values = [element.get(key) for key in _LABELS] if isinstance(element, dict) else []
    names = [name for name in values if isinstance(name, str) and name.isprintable()]
    return names[0] if names and 0 < len(names[0]) <= LONGEST_LABEL else str(position)


class _Check:
    """Compares a value with its type and collects all problems."""

    def __init__(self, file: TomlFile) -> None:
        self._file = file
        self._problems: list[DeclarationError] = []

    def raise_problems(self) -> None:
        """Raise the first problem, by line, with the others."""
        problems = sorted(self._problems, key=lambda problem: problem.line or 0)
        if problems:
            first, *others = problems
            raise self._file.errors(first.file, first.key, first.problem, first.line, tuple(others))

    def prepared(self, declared: object, raw: object, path: KeyPath) -> object:
        """Return a value as `msgspec` can convert it: read by the functions of `Allowed`."""
        before = len(self._problems)
        kind, own = without_annotations(declared)
        is_read = own is not None and own.read is not None
        value = raw
        if is_table(kind) and isinstance(raw, dict):
            value = self._struct(kind, raw, path)
        elif get_origin(kind) in MAPPINGS and isinstance(raw, dict):
            value = self._mapping(kind, raw, path)
        elif get_origin(kind) in LISTS and isinstance(raw, list):
            value = self._list(kind, raw, path)
        elif not is_read or is_table(kind) or get_origin(kind) in (*MAPPINGS, *LISTS):
            self._single(declared, raw, path)
        elif own is not None and not own.reads(raw):
            self._unexpected(declared, raw, path)
        if own is None or own.read is None or len(self._problems) > before:
            return value
        try:
            return own.read(value, self._file.folder) if own.in_folder else own.read(value)
        except ValueError as error:
            self._refused(path, error)
            return value

    def _struct(self, kind: type[msgspec.Struct], raw: Mapping[str, object], path: KeyPath) -> object:
        before = len(self._problems)
        declared = {each.encode_name: each for each in _fields_of(kind)}
        values = {}
        for key, value in raw.items():
            if key in declared:
                values[key] = self.prepared(declared[key].type, value, (*path, key))
            else:
                self._wrong((*path, key), _unknown(key, declared))
        for key, each in declared.items():
            if each.required and key not in raw:
                such_as = f", such as {key} = {example(each.type)}" if example(each.type) else ""
                self._wrong(
                    (*path, key), f"is missing; expected {self._allowed(each.type, (*path, key))}{such_as}"
                )
        if len(self._problems) == before:
            try:
                _converted(values, kind)
            except msgspec.ValidationError as error:
                self._refused(path, error.__cause__ or error)  # by `__post_init__`
        return values

    def _mapping(self, kind: object, raw: Mapping[str, object], path: KeyPath) -> object:
        of_keys, of_values = get_args(kind)
        for key in raw:
            try:
                msgspec.convert(key, of_keys, strict=False)
            except msgspec.ValidationError:
                self._wrong((*path, key), f"is not a valid key; expected {allowed(of_keys)}")
        return {key: self.prepared(of_values, value, (*path, key)) for key, value in raw.items()}

    def _list(self, kind: object, raw: Sequence[object], path: KeyPath) -> object:
        kinds = get_args(kind)
        if len(kinds) == 1 or kinds[-1] is Ellipsis:
            return [self.prepared(kinds[0], value, (*path, at)) for at, value in enumerate(raw)]
        self._single(kind, raw, path)
        return raw

    def _single(self, declared: object, raw: object, path: KeyPath) -> None:
        try:
            _converted(raw, cast("type[object]", declared))
        except msgspec.ValidationError:
            self._unexpected(declared, raw, path)

    def _unexpected(self, declared: object, raw: object, path: KeyPath) -> None:
        problem = f"expected {self._allowed(declared, path)}, got {shortened(raw)}"
        self._wrong(path, with_suggestion(problem, str(raw), words_of(declared)))

    def _allowed(self, declared: object, path: KeyPath) -> str:
        """Return what is allowed at a path; of tables also how they are written."""
        kind, own = without_annotations(declared)
        if own is not None or not all(isinstance(part, str) for part in path):
            return allowed(declared)
        if is_table(kind):
            return f"a table [{self._file.key(path)}]"
        if get_origin(kind) in LISTS and is_table(without_annotations(get_args(kind)[0])[0]):
            return f"tables [[{self._file.key(path)}]], with two brackets"
        return allowed(declared)

    def _refused(self, path: KeyPath, error: BaseException) -> None:
        self._wrong((*path, error.key) if isinstance(error, WrongValueError) else path, str(error))

    def _wrong(self, path: KeyPath, problem: str) -> None:
        self._problems.append(self._file.error(path, problem))


@cache
def _fields_of(table: type[msgspec.Struct]) -> tuple[FieldInfo, ...]:
    """Return the keys of a table; each time, `msgspec` would evaluate all annotations of the class again."""
    return fields(table)


@cache
def _has_readers(declared: Hashable) -> bool:
    """Whether values of a type, or below it, are read by functions of `Allowed`."""
    kind, own = without_annotations(declared)
    if own is not None and own.read is not None:
        return True
    if is_table(kind):
        return any(_has_readers(each.type) for each in _fields_of(kind))
    return get_origin(kind) is not Literal and any(_has_readers(each) for each in get_args(kind))
