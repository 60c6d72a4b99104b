"""The prompt for an answer: the style's instructions, passages as quoted data, and the question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from trivium.answering.answer_layout import table_lines
from trivium.answering.citation_marks import uncited
from trivium.answering.passages import NumberedPassage
from trivium.answering.prompt_styles import DEFAULT, PromptStyle, prompt_style
from trivium.answering.table_rows import rows_of
from trivium.errors import ChatModelError
from trivium.llm.chat_model import ChatModel, Message
from trivium.parser.tables import head_rows
from trivium.text.normalise import plain
from trivium.types import AnswerPart, ChunkKind

ANSWER_TOKENS = 512
"""Default maximum length of an answer in tokens; a quarter of the model's window if that is less."""
SLACK = 64
"""Tokens reserved for the markup around messages, which depends on the model."""

_FENCE = "```"

# No text may open or close a tag, including those of chat templates, or look like a citation. Models read full-width
# and small forms as the plain characters.
_TAG = re.compile(r"([<＜﹤])(?=[\w/／|｜<＜﹤!！])")
_PIPE_TAG = re.compile(r"(?<=[|｜])([>＞﹥])")
_BRACKET_TAG = re.compile(r"\[(?=/?[A-Z_]+\])")


@dataclass(frozen=True, slots=True)
class Prompt:
    """The messages and the passages they contain, best first."""

    messages: tuple[Message, ...]
    offered: tuple[NumberedPassage, ...]
    max_tokens: int


def quoted(text: str) -> str:
    """Neutralise untrusted text: no control characters, tags or citations.

    >>> quoted("</passage> <|im_end|> [INST] as shown [3], 1 < 2")
    '< /passage> < |im_end| > [ INST] as shown (3), 1 < 2'
    """
    return uncited(untagged(text))


def untagged(text: str) -> str:
    """Neutralise untrusted text that may contain citations: no control characters or tags.

    >>> untagged("Asaph Hall [1]. </passage>")
    'Asaph Hall [1]. < /passage>'
    """
    return _BRACKET_TAG.sub("[ ", _PIPE_TAG.sub(r" \1", _TAG.sub(r"\1 ", plain(text))))


def make_prompt(
    question: str,
    passages: Sequence[NumberedPassage],
    model: ChatModel,
    style: PromptStyle | None = None,
    answer_tokens: int | None = None,
    scope: str | None = None,
    best: Sequence[AnswerPart] = (),
) -> Prompt:
    """Build a prompt with as many passages as fit into the model's window, chosen best first. Those of the ``best``
    parts, which the answer without a model quotes, come before the others, and these parts first in them.

    The best passages are placed at both ends of the list and the very best last, just before the question in the
    built-in styles, because models use the middle of a long prompt least (Liu et al., *Lost in the Middle*, 2024).
    With any style, the model is told the ``scope`` of the collection. Raises ChatModelError if style and question
    leave no room for even a part of the best passage.
    """
    style = prompt_style(DEFAULT) if style is None else style
    max_tokens = min(ANSWER_TOKENS if answer_tokens is None else answer_tokens, model.context_tokens // 4)
    asked = quoted(question)
    frame = sum(model.count_tokens(message.content) for message in _messages(style, "", asked, scope))
    room = model.context_tokens - max_tokens - SLACK - frame
    blocks: dict[int, str] = {}
    quoted_ones = {part.number for part in best}
    ordered = sorted(passages, key=lambda passage: passage.number not in quoted_ones)
    for passage in ordered:
        listed = _block(passage, _best_first(passage, best))
        tokens = model.count_tokens(listed)
        if tokens <= room:
            blocks[passage.number] = listed
            room -= tokens
    if not blocks and passages:
        blocks[ordered[0].number] = _cut(ordered[0], room, model, style)
    offered = tuple(passage for passage in ordered if passage.number in blocks)
    listed = "".join(blocks[passage.number] for passage in both_ends(offered))
    return Prompt(_messages(style, listed, asked, scope), offered, max_tokens)


def _messages(style: PromptStyle, listed: str, asked: str, scope: str | None) -> tuple[Message, ...]:
    first, *others = style.messages(listed, asked)
    if scope is None:
        return (first, *others)
    told = f"The passages are from: {quoted(scope)}"
    if first.role == "system":
        return (Message("system", f"{first.content}\n\n{told}"), *others)
    return (Message("system", told), first, *others)


def both_ends(passages: Sequence[NumberedPassage]) -> list[NumberedPassage]:
    """Reorder six passages from best to worst as 2, 4, 6, 5, 3, 1."""
    return [*passages[1::2], *reversed(passages[0::2])]


def block(number: int, headings: str, text: str) -> str:
    """Format a passage for a prompt: numbered, with its headings, as data."""
    return f"<passage {number}>\n{quoted(headings)}: {quoted(text)}\n</passage>\n"


def _block(passage: NumberedPassage, text: str) -> str:
    """Format a text of a passage below its headings, with its document and the date that it gives itself, as far as they
    are not said there.
    """
    document = passage.hit.document.rsplit("/", 1)[-1]
    date = str(passage.hit.metadata.get("date", ""))[:10]
    said = [one for one in (document, date) if one and one not in passage.headings]
    return block(
        passage.number, f"{passage.headings} ({', '.join(said)})" if said else passage.headings, text
    )


def _best_first(passage: NumberedPassage, best: Sequence[AnswerPart]) -> str:
    """Return the text of a passage, below the ``best`` parts of it unless they are most of it anyway."""
    first = "\n".join(
        passage.hit.text[part.start : part.end] for part in best if part.number == passage.number
    )
    whole = as_markdown(passage)
    return f"{first}\n\n{whole}" if first and 2 * len(first) < len(whole) else whole


def as_markdown(passage: NumberedPassage) -> str:
    """Return the text of a passage with its rows as Markdown tables, and code between fences."""
    body = passage.body
    if passage.hit.kind == ChunkKind.CODE:
        return f"\n{_FENCE}\n{body}\n{_FENCE}" if _FENCE not in body else body
    rows = {row.text: dict(row.cells) for row in rows_of(passage)}
    if not rows:
        return body
    columns = head_rows(body)
    lines: list[str] = [""]
    for is_table, run in groupby(body.splitlines(), rows.__contains__):
        own = list(run)
        if not is_table:
            lines += [line for line in own if line not in columns]
            continue
        heads = list(dict.fromkeys(head for line in own for head in rows[line]))
        lines += table_lines(heads, [[rows[line].get(head, "") for head in heads] for line in own])
    return "\n".join(lines)


def _cut(passage: NumberedPassage, room: int, model: ChatModel, style: PromptStyle) -> str:
    """Return as much of the beginning of a passage as fits."""
    length = len(passage.body)
    while length > 0:
        listed = _block(passage, passage.body[:length])
        if model.count_tokens(listed) <= room:
            return listed
        length = length * 3 // 4
    taken = sum(model.count_tokens(message.content) for message in style.messages("", ""))
    raise ChatModelError(
        f"{model.name} reads {model.context_tokens} tokens, which leaves no room for a passage beside the question and"
        f" the prompt style {style.name} ({taken} tokens): ask a shorter question, take a shorter style (--prompt),"
        " or set TRIVIUM_CHAT_CONTEXT_TOKENS if it reads more"
    )
