"""Self-contained web pages: all content is escaped, and they load nothing and run only their own script."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

_LOOK = "tables"
"""The base template of all these pages: their head and common style."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled position on an axis."""

    at: float
    label: str


def render(package: str, name: str, *, scripted: bool = False, **values: Any) -> str:
    """Render the template ``NAME.html`` in ``templates`` of a package, which extends ``tables.html`` of this one,
    with the style of both and, if ``scripted``, the script ``NAME.js``. The template receives both with their
    digests, which its content security policy names.
    """
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("trivium.evaluation")]),
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
