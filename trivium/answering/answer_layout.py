"""The layout of an answer: text, code and rows of tables, to be shown as such; and the answer as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trivium.answering.citation_marks import uncited
from trivium.text.normalise import plain
from trivium.types import Answer, AnswerPart

UNSUPPORTED = "not in the documents"
_FENCE = re.compile(r"`{3,1000}")
_TABLE = re.compile(r"^\| (.*) \|\n\|(?: --- \|)+((?:\n\| .* \|)+)", re.MULTILINE)
_OF_LINES = frozenset(["list", "block", "clause", "closest"])


@dataclass(frozen=True, slots=True)
class Block:
    """Either ``text``, which is ``code`` or has its citations, or ``rows`` of a table. Code and rows cite the passage
    ``number``, each row its own.
    """

    text: str = ""
    code: bool = False
    number: int | None = None
    rows: Sequence[AnswerPart] = ()


def blocks_of(answer: Answer) -> list[Block]:
    """Return what an answer consists of, in its order."""
    if answer.form in ("row", "computed") and answer.parts and all(part.cells for part in answer.parts):
        value = [Block(answer.text.partition("\n")[0])] if answer.form == "computed" else []
        return [*value, Block(rows=answer.parts)]
    if answer.form == "code" and len(answer.parts) == len(answer.statements):
        return [block for place in range(len(answer.parts)) for block in _of_code(answer, place)]
    return [Block(answer.text)]


def _of_code(answer: Answer, place: int) -> Iterator[Block]:
    """Part code from the words before it, which say where it is from."""
    said, part = answer.statements[place], answer.parts[place]
    uri = next((one.uri for one in answer.citations if one.number == part.number), None)
    passage = next((hit.text for hit in answer.passages if hit.uri == uri), "")
    code = plain(passage[part.start : part.end].rstrip())
    text = answer.text[said.start : said.end]
    if not code or not text.endswith(f"{code} [{part.number}]"):
        yield Block(text)
        return
    announced, gap, rest = code.partition("\n\n")
    if gap and " " in announced and announced.endswith(":") and "\n" not in announced:
        code = rest
    if before := text[: text.rindex(code)].rstrip():
        yield Block(before)
    yield Block(code, code=True, number=part.number)


def heads_of(rows: Sequence[AnswerPart]) -> list[str]:
    """Return the heads of some rows, each once."""
    return list(dict.fromkeys(head for row in rows for head, _ in row.cells))


def as_markdown(answer: Answer) -> str:
    """Return an answer as Markdown, with the citations of its text: rows are a table, code is fenced, lists keep their
    lines, and behind sentences of a language model that no passage supports it is said.
    """
    if answer.form is None:
        text = answer.text
        for said in reversed(answer.statements):
            text = text if said.supported else f"{text[: said.end]} *({UNSUPPORTED})*{text[said.end :]}"
        return text
    return "\n\n".join(_markdown(block, in_lines=answer.form in _OF_LINES) for block in blocks_of(answer))


def _markdown(block: Block, *, in_lines: bool) -> str:
    if block.rows:
        heads = heads_of(block.rows)
        cells = [
            [*(uncited(dict(row.cells).get(head, "")) for head in heads), f"[{row.number}]"]
            for row in block.rows
        ]
        return "\n".join(table_lines([*heads, ""], cells))
    if block.code:
        fence = "`" * max([3, *(len(found) + 1 for found in _FENCE.findall(block.text))])
        return f"{fence}\n{block.text}\n{fence}\n\n[{block.number}]"
    if not in_lines:
        return block.text
    lines = [
        f"{(len(line) - len(line.lstrip())) // 2 * ' '}{line.strip()}" for line in block.text.splitlines()
    ]
    return "\n".join(
        f"{line}  " if line and after else line for line, after in zip(lines, [*lines[1:], ""], strict=True)
    )


def table_lines(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table in Markdown, whose rows have a cell for each head."""
    return ["| " + " | ".join(map(_cell, row)) + " |" for row in (heads, ["---"] * len(heads), *rows)]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def tables_as_lines(markdown: str) -> str:
    """Return an answer in Markdown with its rows as the answer's text has them, which is what follow-ups lean on.

    >>> tables_as_lines("| Harbour | Berths |  |\\n| --- | --- | --- |\\n| Quarry | 35 | [1] |")
    'Harbour: Quarry; Berths: 35 [1]'
    """

    def lines(table: re.Match[str]) -> str:
        *heads, _ = table[1].split(" | ")
        rows = [line[2:-2].split(" | ") for line in table[2].split("\n")[1:]]
        return "\n".join(
            "; ".join(f"{head}: {cell}" for head, cell in zip(heads, row, strict=False) if cell)
            + f" {row[-1]}"
            for row in rows
        )

    return _TABLE.sub(lines, markdown)
