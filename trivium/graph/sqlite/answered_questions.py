"""Questions answered by chunks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from zlib import crc32

from trivium.graph.page_graph import QuestionNode
from trivium.graph.sqlite.connection import Connection, as_json

_OF_PAGE = """
    SELECT q.uri, q.text, q.answers, c.uri FROM chunk AS c JOIN answer AS a ON a.chunk_id = c.id
    JOIN question AS q ON q.id = a.question_id WHERE c.page_id = ? ORDER BY q.uri, c.position
    """


def questions_of(connection: Connection, page: int) -> tuple[QuestionNode, ...]:
    """Return the questions answered by chunks of a page (by number), sorted by uri."""
    found: dict[str, tuple[str, str, list[str]]] = {}
    for uri, text, answers, chunk in connection.execute(_OF_PAGE, [page]):
        found.setdefault(uri, (text, answers, []))[2].append(chunk)
    return tuple(
        QuestionNode(uri, text, tuple(json.loads(answers)), tuple(chunks))
        for uri, (text, answers, chunks) in found.items()
    )


def put_questions(connection: Connection, questions: Mapping[str, Sequence[QuestionNode]]) -> int:
    """See :meth:`trivium.graph.protocols.GraphWriter.put_questions`. No index depends on them."""
    pages: dict[str, int] = dict(
        connection.execute(
            "SELECT n.uri, p.id FROM json_each(?) AS j JOIN name AS n ON n.uri = j.value"
            " JOIN page AS p ON p.id = n.id",
            [as_json(questions)],
        )
    )
    changed = 0
    for page, number in pages.items():
        known = {question.uri: question for question in questions_of(connection, number)}
        chunks: dict[str, int] = dict(
            connection.execute("SELECT uri, id FROM chunk WHERE page_id = ? ORDER BY position", [number])
        )
        for question in _last(questions[page]):
            wanted = set(question.chunks)
            answering = [uri for uri in chunks if uri in wanted]
            before = known.get(question.uri)
            if before is None and not answering:
                continue
            # A question on several pages has the text given last.
            if before != QuestionNode(question.uri, question.text, question.answers, tuple(answering)):
                _put(connection, question, number, [chunks[uri] for uri in answering])
                changed += 1
    return changed


def _last(questions: Iterable[QuestionNode]) -> Iterable[QuestionNode]:
    return {question.uri: question for question in questions}.values()


def _put(connection: Connection, question: QuestionNode, page: int, chunks: Sequence[int]) -> None:
    row = (question.uri, question.text, json.dumps(question.answers, ensure_ascii=False))
    connection.execute(
        "INSERT INTO question (uri, text, answers, crc) VALUES (?, ?, ?, ?) ON CONFLICT (uri) DO UPDATE"
        " SET text = excluded.text, answers = excluded.answers, crc = excluded.crc",
        [*row, _sum(*row)],
    )
    (number,) = connection.execute("SELECT id FROM question WHERE uri = ?", [question.uri]).fetchone()
    connection.executemany(
        "INSERT OR IGNORE INTO answer (question_id, chunk_id) VALUES (?, ?)",
        ((number, chunk) for chunk in chunks),
    )
    # Insert new answers first, because a question without any answer is deleted.
    connection.execute(
        "DELETE FROM answer WHERE question_id = ?1 AND chunk_id IN (SELECT id FROM chunk WHERE page_id = ?2)"
        " AND chunk_id NOT IN (SELECT value FROM json_each(?3))",
        [number, page, as_json(chunks)],
    )


def _sum(*values: str) -> int:
    return crc32("\x1f".join(values).encode())


def damaged_questions(connection: Connection) -> dict[int, str]:
    """Return the numbers and uris of questions that do not match their checksum, or that nothing answers."""
    rows = connection.execute(
        "SELECT id, uri, text, answers, crc, EXISTS (SELECT 1 FROM answer WHERE question_id = question.id)"
        " FROM question ORDER BY uri"
    )
    return {
        number: uri
        for number, uri, text, answers, crc, answered in rows
        if not answered or _sum(uri, text, answers) != crc
    }


def drop_questions(connection: Connection, questions: Sequence[int]) -> None:
    """Remove questions and their answers, by number."""
    connection.execute(
        "DELETE FROM question WHERE id IN (SELECT value FROM json_each(?))", [as_json(questions)]
    )
