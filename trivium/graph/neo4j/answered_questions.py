"""Questions answered by chunks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from neo4j import AsyncManagedTransaction

from trivium.graph.neo4j.cypher import writing as cypher
from trivium.graph.neo4j.write_steps import in_batches
from trivium.graph.node_properties import Parameters
from trivium.graph.page_graph import QuestionNode


async def answer(
    transaction: AsyncManagedTransaction, questions: Mapping[str, Sequence[QuestionNode]]
) -> int:
    """Record the questions that chunks of stored pages answer, and return the number of questions that changed."""
    pages = list(questions)
    before: dict[tuple[str, str], QuestionNode] = {
        (page, uri): QuestionNode(uri, text, tuple(answers), tuple(chunks))
        for page, uri, text, answers, chunks in await in_batches(
            transaction, cypher.QUESTIONS_OF, "uris", pages
        )
    }
    chunks_of = dict(await in_batches(transaction, cypher.CHUNKS_OF, "uris", pages))
    withdrawn: list[Parameters] = []
    rows: list[Parameters] = []
    for page, chunks in chunks_of.items():
        for question in {asked.uri: asked for asked in questions[page]}.values():
            wanted = set(question.chunks)
            answering = tuple(uri for uri in chunks if uri in wanted)
            known = before.get((page, question.uri))
            new = QuestionNode(question.uri, question.text, question.answers, answering)
            if known == new or (known is None and not answering):
                continue
            withdrawn.append({"uri": question.uri, "page": page})
            rows.append(
                {
                    "uri": question.uri,
                    "text": question.text,
                    "answers": list(question.answers),
                    "chunks": list(answering),
                }
            )
    await in_batches(transaction, cypher.WITHDRAW_ANSWERS, "rows", withdrawn)
    await in_batches(transaction, cypher.ANSWER, "rows", [row for row in rows if row["chunks"]])
    await drop_unanswered(transaction, {row["uri"] for row in rows if not row["chunks"]})
    return len(rows)


async def answered_by(transaction: AsyncManagedTransaction, pages: Sequence[str]) -> set[str]:
    """Return the uris of the questions answered by chunks of pages."""
    found = await in_batches(transaction, cypher.QUESTIONS_OF, "uris", pages)
    return {uri for _, uri, *_ in found}


async def drop_unanswered(transaction: AsyncManagedTransaction, questions: Collection[str]) -> None:
    """Remove those of the questions that no chunk answers."""
    await in_batches(transaction, cypher.DROP_QUESTIONS, "uris", sorted(questions))
