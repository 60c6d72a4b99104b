"""Explains the citations of an answer: how each came about, and which entities connect its sentence to the passage."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from trivium.answering.citation_marks import cited
from trivium.answering.passages import NumberedPassage
from trivium.graph.protocols import GraphReader
from trivium.parser.gazetteer import find_names
from trivium.types import Attribution, Statement

_MARK = re.compile(r"\[\d+\]")
MAX_ENTITIES = 3
"""Maximum number of entities reported for a sentence and a passage, in the order the sentence names them."""


def with_attribution(
    text: str,
    statements: Sequence[Statement],
    offered: Sequence[NumberedPassage],
    store: GraphReader,
    *,
    written: bool,
    computed: bool = False,
) -> tuple[Statement, ...]:
    """Add the attribution of citations to the statements of an answer's ``text``. ``written`` tells whether a
    language model wrote the text, rather than quoting; of a ``computed`` answer the first statement is
    computed. The store is asked twice, regardless of the number of statements.
    """
    passages = {passage.number: passage for passage in offered}
    numbers = sorted({number for statement in statements for number in statement.citations})
    entities = _entities([passages[number] for number in numbers if number in passages], store)
    # "Saturn [5]" does not name Saturn 5.
    unmarked = _MARK.sub(lambda mark: " " * len(mark[0]), text)
    named = find_names(unmarked, store.lookup_names) if entities else []
    result = []
    for place, statement in enumerate(statements):
        own = cited(text[statement.start : statement.end])
        ways: list[Attribution] = []
        for number in statement.citations:
            if written:
                ways.append(Attribution(number, "prompted" if number in own else "similarity"))
            else:
                ways.append(Attribution(number, "computed" if computed and not place else "quoted"))
        said = [one.target for one in named if statement.start <= one.start < statement.end]
        for number in statement.citations:
            joining = [entity for entity in dict.fromkeys(said) if entity in entities.get(number, ())]
            ways += [Attribution(number, "graph", entity) for entity in joining[:MAX_ENTITIES]]
        result.append(replace(statement, attribution=tuple(ways)))
    return tuple(result)


def _entities(passages: Sequence[NumberedPassage], store: GraphReader) -> dict[int, frozenset[str]]:
    """Map passage numbers to the entities that the passage links to and that of its page."""
    if not passages:
        return {}
    links: Mapping[str, Sequence[str]] = store.cited([passage.hit.uri for passage in passages])
    return {
        passage.number: frozenset([passage.hit.page, *links.get(passage.hit.uri, ())]) for passage in passages
    }
