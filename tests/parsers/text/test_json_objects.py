"""Objects of JSON texts, in any arrangement, in pieces of any length, with any damage."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zscope.parsers.text.json_envelopes import MOST_NESTED
from zscope.parsers.text.json_objects import LONGEST_OBJECT, json_objects, looks_like_json

Found = list[tuple[int, dict[str, Any]]]
Told = list[tuple[int, str]]


def objects(*pieces: str) -> tuple[Found, Told]:
    problems: Told = []
    return list(json_objects(pieces, lambda line, text: problems.append((line, text)))), problems


def in_pieces(text: str, seed: int, longest: int = 9) -> list[str]:
    luck, pieces = random.Random(seed), []
    while text:
        size = luck.randint(1, longest)
        pieces.append(text[:size])
        text = text[size:]
    return pieces


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("", []),
        (" \r\n[]", []),
        ("{}", [(1, {})]),
        ('[{"a": 1},\n {"b": [2, {"c": {}}]}]\n', [(1, {"a": 1}), (2, {"b": [2, {"c": {}}]})]),
        ('{"a": 1}{"b": 2}\n\n{"c": "}{\\"["}', [(1, {"a": 1}), (1, {"b": 2}), (3, {"c": '}{"['})]),
        ('{\n"a": 1,\n"b": 2\n}\n{\n"a": 3\n}\n', [(1, {"a": 1, "b": 2}), (5, {"a": 3})]),
        ('\x1e{"a": null}\n\x1e{"a": true}', [(1, {"a": None}), (2, {"a": True})]),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_objects_follow_each_other_in_many_ways(text: str, result: Found, seed: int) -> None:
    assert objects(text) == (result, [])
    assert objects(*in_pieces(text, seed)) == (result, [])


@pytest.mark.parametrize(
    ("text", "expected", "lines"),
    [
        ('{"a": 1\n{"b": 2}\n', [{"b": 2}], [1]),
        ('{"a": 1,\n{"b": 2}\n', [{"b": 2}], [1]),
        ('{"a": "x\n y", "c": {"d": 1}}\n{"b": 2}', [{"b": 2}], [1]),
        ('{"a": [1}\n[{"b": 2}]', [{"b": 2}], [1]),
        ('{"a": NaN} {"a": Infinity}{"b": 2}', [{"b": 2}], [1, 1]),
        ('{"a": \'x\'}\n{"b": 2}', [{"b": 2}], [1]),
        ('{"a": "\\ud800"}{"a": "\\ud83d\\ude00"}', [{"a": "\U0001f600"}], [1]),
        ('{"b": 2}\n{"a": ' + "9" * 5_000 + "}", [{"b": 2}, {"a": "9" * 5_000}], []),
        ('{"b": 2}\n\n{"a": {"c"', [{"b": 2}], [3]),
        ('{"b": 2}\n7, "x"\n{"b": 3}', [{"b": 2}, {"b": 3}], [2]),
        ('{"b": 2}\nthe end', [{"b": 2}], [2]),
        ('{"a": 1]\n \n[ {"b": 2}', [{"b": 2}], [1]),
    ],
)
@pytest.mark.parametrize("longest", [1, 7, 1000])
def test_damage_is_reported_and_the_next_object_is_read(
    text: str, expected: list[dict[str, Any]], lines: list[int], longest: int
) -> None:
    result, problems = objects(*in_pieces(text, 1, longest))
    assert [each for _, each in result] == expected
    assert [line for line, _ in problems] == lines
    assert all(what.endswith("it is skipped") for _, what in problems)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("[" * MOST_NESTED + "]" * MOST_NESTED, f"is nested deeper than {MOST_NESTED}"),
        ('{"a":' * MOST_NESTED + "1" + "}" * MOST_NESTED, f"is nested deeper than {MOST_NESTED}"),
        ('"' + "x" * LONGEST_OBJECT + '"', "is longer than 262,144 characters"),
        ("[" + "1," * LONGEST_OBJECT + "1]", "is longer than 262,144 characters"),
    ],
)
def test_an_object_above_a_limit_is_skipped(value: str, problem: str) -> None:
    text = f'{{"a": {value}}}\n{{"b": 2}}'
    for pieces in ([text], in_pieces(text, 1, 100_000)):
        result, problems = objects(*pieces)
        assert result == [(2, {"b": 2})]
        assert [(line, problem in what) for line, what in problems] == [(1, True)]


@pytest.mark.parametrize("longest", [1, 7, 1000])
def test_objects_after_a_skipped_one_without_end_are_read(longest: int) -> None:
    deep = '{"a": ' + "[" * (MOST_NESTED + 1)
    result, problems = objects(*in_pieces(deep + '\n{"b": 1}\n{"b": 2}\n\n{"b": 3}', 1, longest))
    assert result == [(3, {"b": 2}), (5, {"b": 3})]
    assert [line for line, _ in problems] == [1]
    result, problems = objects(*in_pieces(deep + '1,\n{"b": 1},\n{"b": 2}]', 1, longest))
    assert result == []
    assert [line for line, _ in problems] == [1, 3]
    assert "the objects between are not read" in problems[1][1]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.lists(st.dictionaries(st.text(), JSON, max_size=3), max_size=4),
    st.sampled_from(["list", "lines", "close"]),
    st.sampled_from([None, 1]),
    st.booleans(),
    st.integers(),
)
def test_written_objects_are_read_back(
    written: list[dict[str, Any]], form: str, indent: int | None, ascii_only: bool, seed: int
) -> None:
    def dump(value: object) -> str:
        return json.dumps(value, indent=indent, ensure_ascii=ascii_only)

    text = dump(written) if form == "list" else ("\n" if form == "lines" else "").join(map(dump, written))
    result, problems = objects(*in_pieces(text, seed, 50))
    assert ([each for _, each in result], problems) == (written, [])


@given(st.text('{}[]",:\\ \n1au', max_size=80), st.integers())
def test_no_text_breaks_it_and_pieces_make_no_difference(text: str, seed: int) -> None:
    whole, whole_told = objects(text)
    result, problems = objects(*in_pieces(text, seed))
    assert result == whole
    assert [line for line, _ in problems] == [line for line, _ in whole_told]
    assert all(0 < line <= text.count("\n") + 1 for line, _ in problems)


@pytest.mark.parametrize(
    ("opening", "is_json"),
    [
        ('{"a"', True),
        ("\ufeff\n [\n {\n", False),
        ("[{}]", True),
        ("[]", True),
        ("[ [ {", False),
        ("[SYSA] netstat", False),
        ("{ echo; }", False),
        ("", False),
    ],
)
def test_the_beginning_of_json(opening: str, is_json: bool) -> None:
    assert looks_like_json(opening) == is_json
