"""Front matter of Markdown files: YAML between ``---`` or TOML between ``+++``."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time

import yaml

from trivium.parser.sources.source_items import clean_text
from trivium.text.normalise import composed
from trivium.types import MetadataValue

_FENCES = {"---": "yaml", "+++": "toml"}
MAX_FRONT_MATTER = 32 << 10
"""Maximum length in characters, because parsers are slow on nested values."""
_MAX_TOML_LINE = 1_000
_MAX_BRACKETS = 500
_MAX_KEYS = 100
_MAX_KEY = 100
_MAX_VALUE = 1_000
_MAX_LISTED = 100
_MAX_INTEGER = 1 << 63
_SIMPLE = re.compile(r"^([^\W\d][\w .-]{0,99}?)\s*[:=]\s+(\S.*)$", re.MULTILINE)
_TITLE = "title"
_ALIASES = ("aliases", "alias")


class _Loader(yaml.SafeLoader):
    """Loads plain values according to YAML 1.2: ``no`` is text, and so is ``12:30``."""


_Loader.yaml_implicit_resolvers = {}  # otherwise the resolvers of version 1.1 would be tried first
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile("^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:null", re.compile("^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(r"^[-+]?(?:0|[1-9]\d{0,18})$"), list("-+0123456789")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(?:\d{1,18}\.\d{0,18}|\.\d{1,18}|\d{1,18}(?:\.\d{0,18})?[eE][-+]?\d{1,3})$"),
    list("-+.0123456789"),
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:timestamp",
    re.compile(
        r"^\d{4}-\d\d?-\d\d?(?:(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d{1,9})?(?:[ \t]*(?:Z|[-+]\d\d?(?::?\d\d)?))?)?$"
    ),
    list("0123456789"),
)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """``title`` and ``aliases`` as written; ``metadata`` contains all other texts, numbers, booleans and lists of them;
    ``length`` is the number of characters before the document's own text.
    """

    title: str = ""
    aliases: tuple[str, ...] = ()
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    length: int = 0


def read_front_matter(text: str) -> FrontMatter:
    """Parse the front matter of a text. If it is neither valid YAML nor TOML, lines of the form ``key: value`` are
    used.

    >>> read_front_matter("---\\ntitle: Setup\\ntags: [a, b]\\ndate: 2024-05-01\\n---\\nText").metadata
    {'tags': 'a, b', 'date': '2024-05-01'}
    """
    fence = text[:3]
    if fence not in _FENCES or text[3 : text.find("\n")].strip():
        return FrontMatter()
    start = text.find("\n") + 1
    end = re.compile(rf"^{re.escape(fence)}[ \t]*$|^\.\.\.[ \t]*$", re.MULTILINE).search(text, start)
    if start == 0 or end is None or (fence == "+++" and end.group().strip() != fence):
        return FrontMatter()
    written = text[start : end.start()]
    values = {} if len(written) > MAX_FRONT_MATTER else _parse(written, _FENCES[fence])
    if values is None:
        return FrontMatter()  # a rule, text, and another rule
    names = {key.lower(): key for key in reversed(values)}
    title = _as_value(values.get(names.get(_TITLE, ""), ""))
    aliases: list[str] = []
    for name in _ALIASES:
        given = values.get(names.get(name, ""))
        aliases += (
            str(alias) for alias in (given if isinstance(given, list) else [given]) if _is_name(alias)
        )
    left_out = {names.get(name) for name in (_TITLE, *_ALIASES)}
    metadata = metadata_of({key: value for key, value in values.items() if key not in left_out})
    return FrontMatter(
        "" if title is None else str(title),
        tuple(aliases[:_MAX_LISTED]),
        metadata,
        min(end.end() + 1, len(text)),
    )


def metadata_of(values: Mapping[str, object]) -> dict[str, MetadataValue]:
    """Return the values that can be metadata: text, numbers, booleans, dates (as ISO text), and lists of them (joined
    by commas). Other values are dropped, and so are those beyond 100 keys or 1,000 characters.
    """
    kept: dict[str, MetadataValue] = {}
    for key, value in values.items():
        name = _line(key)
        known = _as_value(value)
        if name and len(name) <= _MAX_KEY and known not in (None, "") and len(kept) < _MAX_KEYS:
            assert known is not None
            kept[name] = known
    return kept


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _MAX_VALUE


def _parse(written: str, language: str) -> dict[str, object] | None:
    """Parse the values; None if the text is not front matter."""
    try:
        if language == "toml" and max(map(len, written.split("\n"))) > _MAX_TOML_LINE:
            raise ValueError("keys with many dots take quadratic time")
        if written.count("[") + written.count("{") > _MAX_BRACKETS:
            raise ValueError("brackets in one another take quadratic time")
        values: object = tomllib.loads(written) if language == "toml" else yaml.load(written, _Loader)  # noqa: S506
    except (yaml.YAMLError, tomllib.TOMLDecodeError, ValueError, OverflowError, RecursionError):
        found = _SIMPLE.findall(written)[:_MAX_KEYS]
        return {key: value.strip().strip("\"'") for key, value in found} or None
    if values is None:
        return {}
    return {str(key): value for key, value in values.items()} if isinstance(values, dict) else None


def _as_value(value: object) -> MetadataValue | None:
    if isinstance(value, list):
        parts = [part for part in map(_as_scalar, value[:_MAX_LISTED]) if part not in (None, "")]
        value = ", ".join(_shown(part) for part in parts)
    known = _as_scalar(value)
    return known if not isinstance(known, str) or len(known) <= _MAX_VALUE else None


def _shown(value: MetadataValue | None) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _as_scalar(value: object) -> MetadataValue | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < _MAX_INTEGER else None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return _line(value) if isinstance(value, str) else None


def _line(text: str) -> str:
    """Put a text on one line, cleaned, because escapes may stand for invalid characters."""
    return composed(" ".join(clean_text(text).split()))
