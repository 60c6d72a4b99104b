"""Prompt styles for language models, each a file of templates.

A style is a TOML file with ``system`` (the instructions), ``user`` (the passages and the question) and any number of
``[[examples]]``, each with ``user`` and ``assistant``. The texts are Jinja templates, rendered in a sandbox. ``user``
must contain ``{{ passages }}`` and ``{{ question }}``, and ``system`` or ``user`` must contain ``{{ not_found }}``,
the sentence to reply when the passages do not contain the answer. ``alone`` replaces the instructions when the
evaluation asks without passages. Values are inserted as quoted data (:mod:`trivium.answering.prompting`) and never
interpreted as templates.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

from jinja2 import StrictUndefined, TemplateError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from trivium.answering.events import NOT_FOUND
from trivium.errors import ConfigurationError
from trivium.llm.chat_model import Message

DEFAULT = "zero-shot"
MAX_BYTES = 64 << 10
"""Maximum size of a style file."""
_FOLDER = "prompts"
_KEYS = frozenset({"description", "system", "user", "examples", "alone"})
ALONE = (
    "Answer the question briefly, in plain text, from what you know. If you do not know the answer, reply with exactly"
    " this sentence and nothing else: {{ not_found }}"
)
"""Instructions without passages, for styles that define no ``alone``."""
_EXAMPLE_KEYS = frozenset({"user", "assistant"})
_NONE: Mapping[str, Path] = MappingProxyType({})
_NEEDED = ("passages", "question")
_FILLED = ("<passages-of-a-trial>", "<question-of-a-trial>")

# The texts go to a model, not to a web page, so nothing is escaped.
_TEMPLATES = ImmutableSandboxedEnvironment(
    undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True
)


@dataclass(frozen=True, slots=True)
class PromptStyle:
    """Templates of a conversation that ends with the question. Obtain one with :func:`prompt_style`. Validated on
    construction; raises ConfigurationError.
    """

    name: str
    system: str
    user: str
    examples: tuple[tuple[str, str], ...] = ()
    """Example questions with their answers."""
    description: str = ""
    alone: str = ALONE
    """The instructions when there are no passages."""

    def __post_init__(self) -> None:
        told = self._names("system", self.system, ("not_found",))
        asked = self._names("user", self.user, (*_NEEDED, "not_found"))
        self._names("alone", self.alone, ("not_found",))
        for number, (user, assistant) in enumerate(self.examples, start=1):
            self._names(f"examples[{number}].user", user, ("not_found",))
            self._names(f"examples[{number}].assistant", assistant, ("not_found",))
        missing = [f"{{{{ {name} }}}}" for name in _NEEDED if name not in asked]
        if missing:
            raise self._fault(f"user lacks {' and '.join(missing)}")
        if "not_found" not in told | asked:
            raise self._fault(
                "neither system nor user says {{ not_found }}, the sentence for what the passages do not tell"
            )
        try:
            user = self.messages(*_FILLED)[-1].content
        except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
            raise self._fault(f"a template cannot be filled: {error}") from error
        # If repeated, they would exceed the window that their size was computed for.
        for name, filled in zip(_NEEDED, _FILLED, strict=True):
            if user.count(filled) != 1:
                how = "has" if filled in user else "lacks"
                raise self._fault(
                    f"user {how} {{{{ {name} }}}}{' twice' if how == 'has' else ' where it is filled'}"
                )

    def messages(self, passages: str, question: str) -> tuple[Message, ...]:
        """Return the conversation, with both texts inserted verbatim."""
        said = {"passages": passages, "question": question, "not_found": NOT_FOUND}
        turns = [("system", self.system)]
        for user, assistant in self.examples:
            turns += [("user", user), ("assistant", assistant)]
        turns.append(("user", self.user))
        rendered = ((role, _TEMPLATES.from_string(template).render(said)) for role, template in turns)
        return tuple(Message(role, text) for role, text in rendered if text.strip())  # type: ignore[arg-type]

    def messages_alone(self, question: str) -> tuple[Message, ...]:
        """Return the messages that ask the question without passages."""
        told = _TEMPLATES.from_string(self.alone).render(not_found=NOT_FOUND)
        return Message("system", told), Message("user", question)

    def _names(self, place: str, template: str, known: tuple[str, ...]) -> set[str]:
        """Return the placeholders of a template. Raises ConfigurationError for unknown ones."""
        try:
            names = meta.find_undeclared_variables(_TEMPLATES.parse(template))
        except TemplateError as error:
            raise self._fault(f"{place} is no template: {error}") from error
        unknown = sorted(names - set(known))
        if unknown:
            raise self._fault(
                f"{place} has unknown placeholders: expected {', '.join(known)}, got {', '.join(unknown)}"
            )
        return names

    def _fault(self, what: str) -> ConfigurationError:
        return ConfigurationError(f"prompt style {self.name}: {what}")


def shipped_styles() -> list[str]:
    """Return the names of the built-in styles."""
    folder = files(__package__).joinpath(_FOLDER)
    return sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml"))


def style_names(own: Mapping[str, Path] = _NONE) -> list[str]:
    """Return the names of all styles: built-in and ``own`` ones."""
    return sorted({*shipped_styles(), *own})


def prompt_style(name: str | Path, own: Mapping[str, Path] = _NONE) -> PromptStyle:
    """Load a style by its name, or from a TOML file. ``own`` maps names to files and takes precedence. Raises
    ConfigurationError with the reason.
    """
    if isinstance(name, str) and name in own:
        return replace(_of_file(own[name]), name=name)
    if name in shipped_styles():
        return _shipped(str(name))
    if Path(name).suffix != ".toml":
        raise ConfigurationError(
            f"expected a prompt style ({', '.join(style_names(own))}) or a TOML file of one, got {str(name)!r}"
        )
    return _of_file(Path(name))


def _of_file(named: Path) -> PromptStyle:
    path = named.expanduser()
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigurationError(f"prompt style {path}: {error.strerror}") from error
    if len(content) > MAX_BYTES:
        raise ConfigurationError(f"prompt style {path}: expected at most {MAX_BYTES >> 10} KiB")
    return _style(str(path), content)


@cache
def _shipped(name: str) -> PromptStyle:
    return _style(name, files(__package__).joinpath(_FOLDER, f"{name}.toml").read_bytes())


def _style(name: str, content: bytes) -> PromptStyle:
    try:
        fields = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigurationError(f"prompt style {name}: it is no TOML: {error}") from error
    _check_texts(name, fields, _KEYS, optional={"description", "system", "examples", "alone"})
    examples = fields.get("examples", [])
    if not isinstance(examples, list) or not all(isinstance(example, dict) for example in examples):
        raise ConfigurationError(f"prompt style {name}: expected [[examples]] with user and assistant")
    for example in examples:
        _check_texts(name, example, _EXAMPLE_KEYS, optional=set())
    return PromptStyle(
        name,
        fields.get("system", "").strip(),
        fields["user"].strip("\n"),
        tuple((example["user"].strip("\n"), example["assistant"].strip()) for example in examples),
        fields.get("description", ""),
        fields.get("alone", ALONE).strip(),
    )


def _check_texts(name: str, fields: Mapping[str, Any], known: frozenset[str], optional: set[str]) -> None:
    unknown, missing = sorted(fields.keys() - known), sorted(known - optional - fields.keys())
    if unknown or missing:
        wrong = [f"unknown {', '.join(unknown)}"] * bool(unknown) + [f"no {', '.join(missing)}"] * bool(
            missing
        )
        raise ConfigurationError(
            f"prompt style {name}: expected {', '.join(sorted(known))}, got {' and '.join(wrong)}"
        )
    for key, value in fields.items():
        if key != "examples" and not isinstance(value, str):
            raise ConfigurationError(
                f"prompt style {name}: expected {key} as text, got {type(value).__name__}"
            )
