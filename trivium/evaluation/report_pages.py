"""Self-contained web pages: all content is escaped, and they load nothing and run only their own script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from trivium.evaluation.tables import Table

MOST_LINES = 8
"""Maximum number of lines that are drawn. More could not be told apart."""
_LOOK = "tables"
"""The base template of all these pages: their head and common style."""
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 640, 300, 44, 34, 10


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled position on an axis."""

    at: float
    label: str


@dataclass(frozen=True)
class Lines:
    """A drawing of shares by rank from 1, one line for each name; the first :data:`MOST_LINES` are drawn."""

    shares: Mapping[str, Sequence[float]]
    width: int = _WIDTH
    height: int = _HEIGHT
    left: int = _LEFT

    @property
    def names(self) -> list[str]:
        """The names of the lines that are drawn."""
        return list(self.shares)[:MOST_LINES]

    @property
    def points(self) -> list[str]:
        """The lines in the form of SVG."""
        return [
            " ".join(
                f"{self._across(rank)},{self._up(value)}"
                for rank, value in enumerate(self.shares[name], start=1)
            )
            for name in self.names
        ]

    @property
    def columns(self) -> list[Tick]:
        """The ranks."""
        return [Tick(self._across(rank), str(rank)) for rank in (1, *range(5, self._depth + 1, 5))]

    @property
    def levels(self) -> list[Tick]:
        """The shares."""
        return [Tick(self._up(tenths / 10), f"{tenths / 10:.1f}") for tenths in range(0, 11, 2)]

    @cached_property
    def _depth(self) -> int:
        return max(map(len, self.shares.values()), default=0)

    def _across(self, rank: int) -> float:
        return round(_LEFT + (_WIDTH - _LEFT - 12) * (rank - 1) / max(self._depth - 1, 1), 1)

    def _up(self, value: float) -> float:
        return round(_TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - value), 1)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page of results: a heading, a drawing, a table, and what is to be known of them."""

    heading: str
    table: Table | None = None
    notes: Sequence[str] = ()
    above: str = ""
    lines: Lines | None = None


def report_page(title: str, about: str, sections: Sequence[Section]) -> str:
    """Return a page of results as HTML."""
    return render("report", title=title, about=about, sections=sections)


def render(name: str, *, scripted: bool = False, **values: Any) -> str:
    """Render the template ``NAME.html``, which extends ``tables.html``, with the style of both and, if ``scripted``, the
    script ``NAME.js``. The template receives both with their digests, which its content security policy names.
    """
    environment = Environment(
        loader=PackageLoader("trivium.evaluation"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    files = {"style": (f"{_LOOK}.css", f"{name}.css"), "script": (f"{name}.js",) if scripted else ()}
    for kind, own in files.items():
        if own:
            text = "".join(_own(environment, file) for file in own)
            values[kind] = Markup(text)  # noqa: S704 - our own file, with nothing from outside in it
            values[f"{kind}_digest"] = _digest(text)
    return environment.get_template(f"{name}.html").render(**values)


def _own(environment: Environment, name: str) -> str:
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def _digest(text: str) -> str:
    """Return the digest by which a content security policy allows a style or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
