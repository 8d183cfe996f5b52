"""The lines of keys that messages about TOML files state."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

from hypothesis import event, given
from hypothesis import strategies as st

from zscope.schemas.toml_lines import KeyPath, key_lines

ROOT = Path(__file__).parents[2]
FILES = sorted(
    path
    for folder in ("schemas", "pipelines", "app", "sample-data")
    for path in (ROOT / folder).rglob("*.toml")
)


def paths(content: object, path: KeyPath = ()) -> Iterator[KeyPath]:
    """Yield the path of every key and element."""
    inner: Iterator[tuple[str | int, object]] = iter(())
    if isinstance(content, dict):
        inner = iter(content.items())
    elif isinstance(content, list):
        inner = iter(enumerate(content))
    for part, value in inner:
        yield (*path, part)
        yield from paths(value, (*path, part))


def test_every_form_of_a_key_has_its_line() -> None:
    text = '''\
title = "a = [1]" # b = 2
"with blank" . 'x' = 1

[load] # c
folders = [ # not a key = 1
  "one",

  { name = "two", size.bytes = 3 }, 'th]ree',
]
text = """
[no.heading]
key = ""\\"" """""
when = 2026-03-09 01:00:00Z
[ a . "b.c" ]
x.y = { z = [[1, 2], []] }
[[run]]
name = "one"
[run.tags]
mtu = 9000
[[run]]
[[run.side]]
[[run.side]]
name = \'\'\'
two\'\'\'
last = 1.5e3'''
    assert set(key_lines(text)) == set(paths(tomllib.loads(text)))
    assert key_lines(text) == {
        ("title",): 1,
        ("with blank",): 2,
        ("with blank", "x"): 2,
        ("load",): 4,
        ("load", "folders"): 5,
        ("load", "folders", 0): 6,
        ("load", "folders", 1): 8,
        ("load", "folders", 1, "name"): 8,
        ("load", "folders", 1, "size"): 8,
        ("load", "folders", 1, "size", "bytes"): 8,
        ("load", "folders", 2): 8,
        ("load", "text"): 10,
        ("load", "when"): 13,
        ("a",): 14,
        ("a", "b.c"): 14,
        ("a", "b.c", "x"): 15,
        ("a", "b.c", "x", "y"): 15,
        ("a", "b.c", "x", "y", "z"): 15,
        ("a", "b.c", "x", "y", "z", 0): 15,
        ("a", "b.c", "x", "y", "z", 0, 0): 15,
        ("a", "b.c", "x", "y", "z", 0, 1): 15,
        ("a", "b.c", "x", "y", "z", 1): 15,
        ("run",): 16,
        ("run", 0): 16,
        ("run", 0, "name"): 17,
        ("run", 0, "tags"): 18,
        ("run", 0, "tags", "mtu"): 19,
        ("run", 1): 20,
        ("run", 1, "side"): 21,
        ("run", 1, "side", 0): 21,
        ("run", 1, "side", 1): 22,
        ("run", 1, "side", 1, "name"): 23,
        ("run", 1, "side", 1, "last"): 25,
    }


def test_every_key_of_the_project_has_a_line_that_contains_it() -> None:
    assert len(FILES) > 200
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        lines, rows = key_lines(text), text.split("\n")
        assert set(lines) == set(paths(tomllib.loads(text))), file
        for path, line in lines.items():
            if isinstance(path[-1], str):
                assert path[-1] in rows[line - 1], f"{file}, line {line}"


KEYS = st.sampled_from(["a", "b-c", '"d e"', "'f.g'", "h . i", "j.'k'"])
SINGLE_VALUES = [
    "1",
    "-1.5e3",
    '"[x=1]"',
    "'#'",
    '"\\""',
    '"""\n[t]\n"""',
    "''''a\n'''",
    "2026-03-09T01:00:00Z",
    "true",
]
VALUES = st.recursive(
    st.sampled_from(SINGLE_VALUES),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda values: f"[ # list\n{', '.join(values)}\n]")
        | st.dictionaries(KEYS, inner, max_size=3).map(
            lambda table: f"{{ {', '.join(f'{key} = {value}' for key, value in table.items())} }}"
        )
    ),
    max_leaves=6,
)
STATEMENTS = st.one_of(
    st.builds("{} = {}".format, KEYS, VALUES), KEYS.map("[{}]".format), KEYS.map("[[ {} ]] # t".format)
)


@given(st.lists(STATEMENTS, max_size=8))
def test_any_valid_text_has_a_line_for_every_key(statements: list[str]) -> None:
    text = "\n".join(statements)
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        event("a key is there twice")
        return
    assert set(key_lines(text)) == set(paths(content))
