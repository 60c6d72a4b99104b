"""Generates a question in small steps, for models that cannot do it in one.

Rules do what a small model does badly (:mod:`trivium.synthetic.forms`): a sentence that names the bridge becomes a
statement about *a certain thing*, a sentence of another page a question about *the same thing*. The model only says
what kind of thing the bridge is, and what kind of thing is asked for: one word each from a list, enforced by a schema.
It is asked in two ways, and its reply is used if both agree; an unusable word is requested again at a higher
temperature. Pairs of sentences are tried until a question passes every check.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from trivium.graph.schema import headings_of
from trivium.llm.base import ChatModel, Message
from trivium.llm.json_replies import object_schema
from trivium.synthetic.checks import AskedQuestions, Check, check_wording
from trivium.synthetic.forms import Asking, Half, askings, best_first, halves, speaks_of_a_kind, title_of
from trivium.synthetic.prompt import Prompt, ask
from trivium.synthetic.records import Bridge, Outcome, Source, Written
from trivium.synthetic.reply import read_kind
from trivium.text import words
from trivium.types import Usage

ATTEMPTS = 6
"""Maximum number of pairs of sentences tried for a bridge."""
TEMPERATURES = (0.0, 0.7, 1.0)
"""Temperatures of a request and its repetitions."""
_KINDS = (
    "person astronomer scientist writer artist politician planet moon star comet asteroid galaxy spacecraft rocket "
    "telescope country city town river mountain island ocean region place building company university school "
    "organisation agency laboratory team party war battle event mission process book film song play game programme "
    "language science theory law idea disease animal plant gas metal mineral substance material food machine device "
    "system program weapon vehicle ship aircraft god group people work name phenomenon thing"
)
KINDS = tuple(_KINDS.split())
"""Possible replies. The last one is the fallback."""
SOMEBODY = frozenset(("person", "astronomer", "scientist", "writer", "artist", "politician", "god"))

_KIND = "You say what kind of thing something is, in one word."
_FORMS = (
    "{text}\nIn this text, what kind of thing is {name}?",
    "{text}\nComplete: {name} is the name of a ...",
)
_EXAMPLES = (
    ("Tromsøya is reached from the mainland by a bridge.", "Tromsøya", "island"),
    ("The comet was first seen by Caroline Herschel.", "Caroline Herschel", "astronomer"),
    ("It was released by Nintendo for the Famicom.", "Famicom", "device"),
)
_REPLY_TOKENS = 40

KIND_SCHEMA = object_schema({"kind": {"type": "string", "enum": list(KINDS)}})
STEPS_VERSION = hashlib.sha256(json.dumps([_KIND, _FORMS, _EXAMPLES, KINDS]).encode()).hexdigest()[:12]
"""Hash of the instructions: see :data:`trivium.synthetic.prompt.WRITE_VERSION`."""


def write_in_steps(
    bridge: Bridge, model: ChatModel, asked: AskedQuestions, attempts: int = ATTEMPTS
) -> Written:
    """Generate a question about a bridge in steps, and check it: the first that passes every check, else the last one
    tried. Raises ChatModelError when the model fails.
    """
    steps = _Steps(model)
    found = [half for source in bridge.sources for half in halves(bridge, source)]
    found.sort(key=lambda half: half.vague)
    asking = best_first([one for half in found for one in askings(half, steps.kinds_of_page(half))])
    pairs = [(one, clue) for one in asking for clue in found if clue.source.page != one.half.source.page]
    written = Written(
        bridge.entity, Outcome.DECLINED, reason="no two sentences that name it can be made into a question"
    )
    for one, clue in _spread(pairs)[:attempts]:
        written = _tried(bridge, one, clue, steps, asked)
        if written.outcome is Outcome.WRITTEN:
            break
    return replace(written, usage=steps.usage)


@dataclass
class _Steps:
    """Asks a model what kinds of things there are, and sums up the usage."""

    model: ChatModel
    usage: Usage = field(default_factory=Usage)
    kinds: dict[str, str] = field(default_factory=dict)

    def kind(self, name: str, sentence: str, useless: Callable[[str], bool]) -> str:
        """Return the kind of thing that a name means in a sentence; the last of :data:`KINDS` if the replies disagree."""
        if name not in self.kinds:
            self.kinds[name] = self._agreed(name, sentence, useless)
        return self.kinds[name]

    def kinds_of_page(self, half: Half) -> list[str]:
        """Return the words by which a clause may refer to the subject of its page: from the parentheses of its title,
        else from the model.
        """
        told = _told(half.source)
        if told or not speaks_of_a_kind(half):
            return told
        kind = self.kind(title_of(half.source), half.source.text, lambda _: False)
        return ["spacecraft", "craft", "probe"] if kind == "spacecraft" else [kind]

    def _agreed(self, name: str, sentence: str, useless: Callable[[str], bool]) -> str:
        for temperature in TEMPERATURES:
            kind = self._asked(_FORMS[0], name, sentence, temperature)
            if kind is not None and not useless(kind):
                return kind if self._asked(_FORMS[1], name, sentence, 0.0) == kind else KINDS[-1]
        return KINDS[-1]

    def _asked(self, form: str, name: str, sentence: str, temperature: float) -> str | None:
        messages = [Message("system", _KIND)]
        for text, what, kind in _EXAMPLES:
            messages += [
                Message("user", form.format(text=text, name=what)),
                Message("assistant", json.dumps({"kind": kind})),
            ]
        messages.append(Message("user", form.format(text=sentence, name=name)))
        reply = ask(Prompt(tuple(messages), (), _REPLY_TOKENS), self.model, KIND_SCHEMA, temperature)
        self.usage += reply.usage
        return read_kind(reply.text, KINDS)


def _tried(bridge: Bridge, one: Asking, clue: Half, steps: _Steps, asked: AskedQuestions) -> Written:
    own = {word for name in bridge.names for word in name.split()}
    kind = _told_of(bridge.title) or steps.kind(
        bridge.title, f"{clue.with_name(bridge.title)}.", lambda said: said in own
    )
    certain = "somebody" if kind == "person" else f"a certain {kind}"
    question = one.question(f"the same {kind}", one.wh or _question_word(one, steps))
    question = f"{clue.with_name(certain)}. {question}"
    used = (clue.source, one.half.source)
    failed: list[Check] = check_wording(question, one.answer, bridge, used)
    if asked.has(question, one.answer):
        failed.append(Check.REPEATED)
    return Written(
        bridge.entity,
        Outcome.FAILED if failed else Outcome.WRITTEN,
        question,
        one.answer,
        tuple(source.uri for source in used),
        tuple(failed),
    )


def _question_word(one: Asking, steps: _Steps) -> str:
    title = headings_of(one.half.source.section)[0]
    told = _told_of(title) if title_of(one.half.source) == one.answer else None
    own = set(words(one.answer))
    sentence = f"{one.in_full().with_name('it')}."
    kind = told or steps.kind(one.answer, sentence, lambda said: said in own)
    if one.is_defined:  # avoids "which moon is a moon"
        return "who" if kind in SOMEBODY else "who or what" if kind == "thing" else "what"
    return {"person": "who", "thing": "who or what"}.get(kind, f"which {kind}")


def _told_of(title: str) -> str | None:
    """Return the kind of thing given in the parentheses of a title."""
    last = words(title.rpartition("(")[2])[-1:] if title.endswith(")") else []
    return last[0] if last and last[0] in KINDS[:-1] else None


def _told(source: Source) -> list[str]:
    """Return the kind given in the parentheses of a page's title, and the full text in them, so that *the dwarf planet*
    is recognised as well.
    """
    title = headings_of(source.section)[0]
    if not title.endswith(")"):
        return []
    inside = title.rpartition("(")[2].rstrip(")")
    return list(dict.fromkeys((inside, inside.split()[-1]))) if inside.split() else []


def _spread(pairs: list[tuple[Asking, Half]]) -> list[tuple[Asking, Half]]:
    """Order the pairs so that each thing to ask for is tried once before any is tried with another clue."""
    turns: dict[tuple[str, str], int] = {}
    order = []
    for place, (one, _) in enumerate(pairs):
        key = (one.half.text, one.answer)
        turns[key] = turns.get(key, -1) + 1
        order.append((turns[key], place))
    return [pairs[place] for _, place in sorted(order)]
