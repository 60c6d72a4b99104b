"""No regular expression of the package takes more than linear time, whatever text it is given.

Each is pumped: for every repetition in it, texts are made of what leads there, what it repeats, many times, and an end
that does not match. Texts that repeat what leads there are those on which a search begins everywhere anew.
"""

from __future__ import annotations

import ast
import importlib
import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import trivium

parser = importlib.import_module("re._parser")
constants = importlib.import_module("re._constants")

ROOT = Path(trivium.__file__).parent
MANY = 20
"""Repetitions that may be longer than this many are pumped."""
SIZES = (16, 24, 32, 40, 48, 600, 8_000)
"""Characters. Each is tried only where the one before took little time."""
SLOW = 0.002
"""Seconds from which a text is suspicious."""
MAX_EXPONENT = 1.5
FALLBACK = "finditer"

EXCUSED = {
    "trivium.parser.documents.header_rows._NUMBER": "cells of at most 100 characters",
    "trivium.parser.documents.number_format._TOKEN": "at most 255 characters, as Excel allows",
    "trivium.speech.piper._WROTE": "lines of a program that the owner of the machine has chosen",
}
"""Patterns that no long text reaches, with the reason."""
TURNS = 4
"""Alternatives that are repeated, of each repetition."""
ALWAYS = {"trivium.parser.documents.word_styles": "fullmatch", "trivium.parser.html.input_limits": "match"}
"""The method by which patterns without a name are applied, by module."""
GIVEN: dict[str, Any] = {
    "asked": ("", "2.1"),
    "attributes": 1_000,
    "fence": "---",
    "head": "answers",
    "inside": "(2)",
    "kind": r"(?:item\s+)?",
    "joined": r"cold[\W_]+chain",
    "known": "cold chain",
    "label": r"\d{1,3}[.):]",
    "name": "cold chain",
    "names": ["cold chain"],
    "number": "2.1",
    "own": r"2\.1(?!\.?\d)[.):]?",
    "pattern": "[Tt]he chain",
    "patterns": ["*cold*chain*"],
    "run": ["cold", "chain"],
    "says": r"(?: (?:=|means?\b)|: )",
    "self": SimpleNamespace(name="cold chain"),
    "word": "chain",
    "words": ["cold", "chain"],
}
"""Values for the variables of functions that make a pattern."""


@dataclass(frozen=True)
class Use:
    """A pattern with a method by which it is applied."""

    place: str
    pattern: re.Pattern[Any]
    method: str

    def seconds(self, text: str | bytes) -> float:
        begun = time.process_time()
        if self.method in ("match", "fullmatch"):
            getattr(self.pattern, self.method)(text)
        elif self.method == "search":
            self.pattern.search(text)
        else:
            for _ in self.pattern.finditer(text):
                pass
        return time.process_time() - begun


# -- the patterns of the package ---------------------------------------------------------------------------------------

METHODS = ("search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn")


def uses() -> Iterator[Use]:
    """All patterns of the package."""
    sources = {path: path.read_text() for path in sorted(ROOT.rglob("*.py"))}
    everything = "\n".join(sources.values())
    for path, text in sources.items():
        if not re.search(r"\bre\.\w+\(", text):
            continue
        name = ".".join(("trivium", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        tree = ast.parse(text)
        named = {
            id(node.value): node.targets[0].id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        public = {
            name
            for node in tree.body
            for name in (named.get(id(getattr(node, "value", None))),)
            if name and name[0] != "_"
        }
        applied = {id(node.value): node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "re"):
                continue
            if node.func.attr not in (*METHODS, "compile"):
                continue
            target = named.get(id(node))  # a variable of a function counts, too
            place = f"{name}.{target}" if target else f"{name}: {ast.unparse(node.args[0])}"
            pattern = compiled(node, {**GIVEN, **vars(importlib.import_module(name))})
            if node.func.attr != "compile":
                methods = {node.func.attr}
            elif id(node) in applied or (target is None and name in ALWAYS):
                methods = {applied.get(id(node)) or ALWAYS[name]}
            else:
                methods = methods_of(target, everything if target in public else text)
            yield from (Use(place, pattern, method) for method in sorted(methods))


def compiled(call: ast.Call, names: dict[str, Any]) -> re.Pattern[Any]:
    """Evaluate the pattern and flags of a call."""
    assert isinstance(call.func, ast.Attribute)
    flags: ast.expr | None = next((given.value for given in call.keywords if given.arg == "flags"), None)
    if call.func.attr == "compile" and len(call.args) > 1:
        flags = call.args[1]
    pattern, flag = (
        0 if part is None else eval(compile(ast.Expression(part), "pattern", "eval"), names)
        for part in (call.args[0], flags)
    )
    return re.compile(pattern, flag)


def methods_of(target: str | None, text: str) -> set[str]:
    """The methods that are called of a pattern with this name; all that search if it is used otherwise, too."""
    if target is None:
        return {FALLBACK}
    used = re.findall(rf"(?<![\w.]){target}\b(?!\s*=)(?:\.(\w+))?", text)
    methods = {method if method in METHODS else FALLBACK for method in used}
    simple = methods & {"match", "fullmatch", "search"}
    return simple if simple == methods and simple else simple | {FALLBACK}


# -- texts that repeat -------------------------------------------------------------------------------------------------

Node = tuple[Any, Any]
IGNORECASE = int(re.IGNORECASE)
REPEATS = (constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT)
SETS = (constants.IN, constants.ANY, constants.LITERAL, constants.NOT_LITERAL)
ALPHABET = [*map(chr, range(128)), *"éßÄ–…“”中・\u0301\u00a0\u2028¿½"]
IN_TURN = sorted(ALPHABET, key=lambda sign: (not sign.isalnum() and sign not in " \n.", sign))
CATEGORIES = {
    constants.CATEGORY_DIGIT: r"\d",
    constants.CATEGORY_NOT_DIGIT: r"\D",
    constants.CATEGORY_SPACE: r"\s",
    constants.CATEGORY_NOT_SPACE: r"\S",
    constants.CATEGORY_WORD: r"\w",
    constants.CATEGORY_NOT_WORD: r"\W",
}


def takes(node: Node, character: str, flags: int) -> bool:
    """Whether a set has a character."""
    kind, given = node
    if kind is constants.IN:
        negated = given[0][0] is constants.NEGATE
        return any(takes(part, character, flags) for part in given[negated:]) != negated
    if kind is constants.ANY:
        return True
    if kind is constants.CATEGORY:
        return re.match(CATEGORIES[given], character) is not None
    cases = {character, character.lower(), character.upper()} if flags & IGNORECASE else {character}
    codes = [ord(case) for case in cases if len(case) == 1]
    if kind is constants.RANGE:
        return any(given[0] <= code <= given[1] for code in codes)
    return (given in codes) == (kind is constants.LITERAL)


_TAKEN: dict[tuple[str, int], frozenset[str]] = {}


def taken(node: Node, flags: int) -> frozenset[str]:
    """The characters of the alphabet that a set has. Most sets are those of many patterns."""
    key = (repr(node), flags & IGNORECASE)
    if key not in _TAKEN:
        _TAKEN[key] = frozenset(character for character in ALPHABET if takes(node, character, flags))
    return _TAKEN[key]


def parts_of(node: Node) -> list[list[Node]]:
    """The alternatives of a node."""
    kind, given = node
    if kind in REPEATS:
        return [list(given[2])]
    if kind is constants.SUBPATTERN:
        return [list(given[3])]
    if kind is constants.ATOMIC_GROUP:
        return [list(given)]
    if kind is constants.ASSERT:
        return [list(given[1])] if given[0] > 0 else []
    if kind is constants.BRANCH:
        return [list(part) for part in given[1]]
    return []


def example(nodes: Sequence[Node], first: str, flags: int, turn: int = 0) -> str:
    """A text that fits, of this character where it may be. Of alternatives the one whose turn it is."""
    text = ""
    for node in nodes:
        kind, given = node
        if kind in SETS:
            fitting = (character for character in (first, *"a 1", *ALPHABET) if takes(node, character, flags))
            text += next(fitting, chr(given) if kind is constants.LITERAL else "")
        elif kind in REPEATS:
            text += example(given[2], first, flags, turn) * given[0]
        elif kind is not constants.ASSERT and parts_of(node):
            options = [example(part, first, flags, turn) for part in parts_of(node)]
            own = [option for option in options if set(option) == {first}]
            text += own[0] if own and not turn else options[-turn % len(options)]
    return text


def repeats(nodes: Sequence[Node], before: list[Node]) -> Iterator[tuple[list[Node], list[Node]]]:
    """What leads to each long repetition, and what it repeats."""
    for at, node in enumerate(nodes):
        lead = [*before, *nodes[:at]]
        if node[0] in REPEATS and node[1][1] > MANY:
            yield lead, list(node[1][2])
        for part in parts_of(node):
            yield from repeats(part, lead)


def nodes_in(nodes: Sequence[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        for part in parts_of(node):
            yield from nodes_in(part)


def pumps(pattern: re.Pattern[Any]) -> Iterator[Callable[[int], str]]:
    """Texts of any length."""
    flags = int(pattern.flags)
    tree = list(parser.parse(pattern.pattern, flags))
    found = list(repeats(tree, []))
    parts = {repr(part): part for _, body in found for part in nodes_in(body) if part[0] in SETS}
    sets = [taken(part, flags) for part in parts.values()]
    kinds: dict[tuple[bool, ...], str] = {}
    for character in IN_TURN:
        kinds.setdefault(tuple(character in part for part in sets), character)
    none = kinds.pop((False,) * len(sets), None)
    made: set[tuple[str, str, str]] = set()
    for lead, body in found:
        turns = range(1, TURNS if any(kind is constants.BRANCH for kind, _ in nodes_in(body)) else 1)
        for character, turn in [
            *((character, 0) for character in kinds.values()),
            *(("a", turn) for turn in turns),
        ]:
            before, unit = (example(part, character, flags, turn) for part in (lead, body))
            if not turn and character not in unit:
                continue
            for pump in ((before, unit), ("", before + unit), ("", before), ("", unit)):
                for end in dict.fromkeys(("", none or "", "\n!")):
                    if pump[1]:
                        made.add((*pump, end))
    for before, unit, end in sorted(made):
        yield lambda size, before=before, unit=unit, end=end: before + unit * (size // len(unit)) + end


def growth(use: Use, pump: Callable[[int], str]) -> float | None:
    """The exponent of the time a text takes; None if it takes little."""

    def text(size: int) -> str | bytes:
        made = pump(size)
        return made.encode("utf-8", "replace") if isinstance(use.pattern.pattern, bytes) else made

    for size in SIZES:
        given = text(size)
        if all(use.seconds(given) >= SLOW for _ in range(4)):
            break
    else:
        return None
    if size < SIZES[-2]:
        return math.inf
    sizes = (size, 3 * size) if size < SIZES[-1] else (size // 4, size)
    times = [min(use.seconds(text(grown)) for _ in range(3)) for grown in sizes]
    return math.log(times[1] / max(times[0], 1e-6)) / math.log(sizes[1] / sizes[0])


def slow_text(use: Use) -> tuple[str, float] | None:
    """A text on which the time grows faster than it, and how fast."""
    for pump in pumps(use.pattern):
        exponents = (growth(use, pump) for _ in range(2))
        if all(exponent is not None and (grown := exponent) > MAX_EXPONENT for exponent in exponents):
            return repr(pump(24)), grown
    return None


def test_every_pattern_takes_linear_time() -> None:
    found = list(uses())
    assert len(found) > 300
    assert {use.place for use in found} >= set(EXCUSED)
    slow = {
        f"{use.place}.{use.method}": bad
        for use in found
        if use.place not in EXCUSED and (bad := slow_text(use))
    }
    assert not slow


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"\s+x", "search"),
        (r"<a[^>]*>", "finditer"),
        (r"\w*\d+!", "match"),
        (r"(?:a|b|ab)+c", "match"),
        (r"\{\s*/?\s*(?:x|[^}])*\}", "match"),
        (rb"[\x80-\xff]+$", "search"),
        (r"(?:\.\s*)+\n!", "finditer"),
    ],
)
def test_patterns_that_are_not_linear_are_found(pattern: str | bytes, method: str) -> None:
    assert slow_text(Use("", re.compile(pattern), method)) is not None
