"""Render the reference of the Python interface from the signatures and docstrings of its names."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import TYPE_CHECKING

from zscope import api

if TYPE_CHECKING:
    from collections.abc import Iterator

_INTRODUCTION = """\
# Reference of the Python interface

This page is rendered from the docstrings; `help(zs.scan)` shows the same. The guide is
[Python](../sql.md#python).

```python
import zscope.api as zs
```
"""
_LONGEST = 100


def python_reference() -> str:
    """Return the reference of all public names."""
    public = {name: getattr(api, name) for name in api.__all__ if not name.startswith("__")}
    parts = [_INTRODUCTION]
    for title in ("Functions", "Classes", "Errors and warnings"):
        parts.append(f"\n## {title}\n")
        parts += [_entry(name, value) for name, value in public.items() if _kind(value) == title]
    return "".join(parts)


def _kind(value: object) -> str:
    if inspect.isclass(value):
        return "Errors and warnings" if issubclass(value, (Exception, Warning)) else "Classes"
    return "Functions"


def _entry(name: str, value: object) -> str:
    parts = [f"\n### {name}\n\n"]
    if inspect.isfunction(value):
        parts.append(f"```python\n{_signature(f'zs.{name}', value)}\n```\n\n")
    parts.append(f"{_text(value)}\n")
    if inspect.isclass(value):
        members = [f"- `{name}`{': ' if text else ''}{text}\n" for name, text in _members(value)]
        parts += ["\n", *members] if members else []
    return "".join(parts)


def _signature(name: str, function: object) -> str:
    """Return a function with its parameters as the source has them, over several lines if they are many."""
    definition = _definition(function)
    assert isinstance(definition, ast.FunctionDef)
    assert definition.returns is not None
    texts = [text.replace("DEFAULT_OPTIONS", "ReadOptions()") for text in _parameters(definition.args)]
    returned = ast.unparse(definition.returns)
    line = f"{name}({', '.join(texts)}) -> {returned}"
    if len(line) <= _LONGEST:
        return line
    return f"{name}(\n    " + ",\n    ".join(texts) + f",\n) -> {returned}"


def _parameters(arguments: ast.arguments) -> Iterator[str]:
    required = len(arguments.args) - len(arguments.defaults)
    for each, default in zip(arguments.args, [*[None] * required, *arguments.defaults], strict=True):
        if each.arg != "self":
            yield _parameter(each, default)
    if arguments.kwonlyargs:
        yield "*"
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _parameter(each, default)
    if arguments.kwarg:
        yield f"**{ast.unparse(arguments.kwarg)}"


def _parameter(each: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(each) if default is None else f"{ast.unparse(each)} = {ast.unparse(default)}"


def _definition(value: object) -> ast.stmt:
    assert inspect.isfunction(value) or inspect.isclass(value)
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(value))).body
    return definition


def _text(value: object) -> str:
    """Return the docstring; its examples become blocks of code."""
    lines, block = [], False
    for line in (inspect.getdoc(value) or "").splitlines():
        begins = line.startswith(">>> ")
        if begins and not block:
            lines.append("```python")
        if block and not line.strip():
            lines.append("```")
        block = begins or (block and bool(line.strip()))
        lines.append(line)
    return "\n".join([*lines, "```"] if block else lines)


def _members(kind: type) -> Iterator[tuple[str, str]]:
    """Return the public attributes, properties and methods of a class, with the first part of their text."""
    yield from _attributes(kind)
    for name, value in vars(kind).items():
        if name.startswith("_"):
            continue
        if isinstance(value, property):
            yield name, _first(value)
        elif inspect.isfunction(value):
            in_one_line = " ".join(_signature(name, value).split()).replace("( ", "(").replace(", )", ")")
            yield in_one_line, _first(value)


def _first(value: object) -> str:
    return (inspect.getdoc(value) or "").partition("\n\n")[0].replace("\n", " ")


def _attributes(kind: type) -> Iterator[tuple[str, str]]:
    """Return the attributes that the class or its `__init__` declares, with the text below them."""
    tree = _definition(kind)
    assert isinstance(tree, ast.ClassDef)
    bodies = [tree.body, *(each.body for each in tree.body if isinstance(each, ast.FunctionDef))]
    for body in bodies:
        for statement, below in zip(body, [*body[1:], None], strict=True):
            name = _assigned(statement)
            text = _text_of(below)
            if name and not name.startswith("_") and (text or body is tree.body):
                yield name, text


def _text_of(statement: ast.stmt | None) -> str:
    """Return the text below an attribute."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return " ".join(str(statement.value.value).split())
    return ""


def _assigned(statement: ast.stmt) -> str:
    """Return the name that a statement assigns, such as `tables` of `self.tables = tables`."""
    if isinstance(statement, ast.AnnAssign):
        target: ast.expr = statement.target
    elif isinstance(statement, ast.Assign):
        target = statement.targets[0]
    else:
        return ""
    if isinstance(target, ast.Attribute):
        return target.attr
    return target.id if isinstance(target, ast.Name) else ""
