"""Checks rows of the database: texts against their hashes, data against checksums, and derived rows against their
source.

A check reads one state of the database and yields a few findings, each of which names all rows concerned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from zlib import crc32

import numpy as np

from trivium.graph.embedded.connection import Connection, as_json
from trivium.graph.embedded.counting import adjust
from trivium.graph.embedded.ids import forms_of
from trivium.graph.embedded.pictures import drop_picture_vectors, vectors_as_stored
from trivium.graph.embedded.questions import QUESTIONS, drop_questions, find_damage
from trivium.graph.embedded.reconcile import Touched, reconcile
from trivium.graph.embedded.states import begin_state
from trivium.graph.embedded.vectors import read_embedder
from trivium.graph.findings import SENTENCES, VECTORS, Finding, Severity, damaged_pages
from trivium.graph.pictures import EMBED_PICTURES
from trivium.graph.schema import embedding_text, entity_text, headings_of
from trivium.graph.vectors import UNIT_TOLERANCE, text_hash

_NAMES = "entity"
_PICTURES = "picture"
_FORMS = "lookup forms"
_TERMS = "term counts"
_LEFTOVERS = "leftovers"
_UNSUMMED = "not summed"

_AGAIN = "a repair makes them again"
_EMBED_AGAIN = "a repair drops them and embeds the texts again"


def _texts(connection: Connection) -> Iterator[Finding]:
    """Texts and titles that differ from the hash stored with them, and term counts that are wrong."""
    damaged: dict[str, None] = {}
    for page, section, text, key, *terms, of_text, of_headings in connection.execute(
        """
        SELECT n.uri, coalesce(s.uri, n.uri), c.text, t.hash, c.terms, c.heading_terms, c.term_count, c.heading_count
        FROM chunk AS c JOIN name AS n ON n.id = c.page_id JOIN text AS t ON t.id = c.text_id
        LEFT JOIN section AS s ON s.id = c.section_id ORDER BY c.id
        """
    ):
        counts = [len(part.split()) for part in terms]
        if counts != [of_text, of_headings] or text_hash(embedding_text(headings_of(section), text)) != key:
            damaged[page] = None
    for page, uri, key in connection.execute(
        "SELECT n.uri, s.uri, t.hash FROM section AS s JOIN name AS n ON n.id = s.page_id"
        " JOIN text AS t ON t.id = s.text_id ORDER BY s.id"
    ):
        if text_hash(uri) != key:
            damaged[page] = None
    if damaged:
        yield damaged_pages("texts of their chunks or sections are not those that were written", damaged)


def _names(connection: Connection) -> Iterator[Finding]:
    rows = connection.execute(
        """
        SELECT n.uri, n.uri, coalesce(e.type, ''), t.hash FROM name AS n JOIN text AS t ON t.id = n.text_id
        LEFT JOIN entity_type AS e ON e.name_id = n.id
        """
    )
    wrong = [uri for uri, title, kind, key in rows if text_hash(entity_text(title, kind)) != key]
    types = connection.execute(
        "SELECT r.type, t.hash FROM relation_type AS r JOIN text AS t ON t.id = r.text_id"
    )
    wrong += [kind for kind, key in types if text_hash(kind) != key]
    if wrong:
        yield Finding(
            kind=_NAMES,
            severity=Severity.DAMAGE,
            problem="titles or types of entities and relations are not those that were written",
            where=tuple(wrong),
            remedy="restore a backup, or build the store again",
        )


def _vectors(connection: Connection) -> Iterator[Finding]:
    """Vectors that differ from their checksum, or are not unit vectors of the embedder's dimension."""
    identity = read_embedder(connection)
    size = 0 if identity is None else 4 * identity.dimension
    rows = connection.execute(
        "SELECT v.text_id, v.data, s.crc FROM vector AS v LEFT JOIN vector_sum AS s ON s.text_id = v.text_id"
    )
    wrong = [
        text
        for text, data, crc in rows
        if len(data) != size or (crc is not None and crc32(data) != crc) or not _is_unit(data)
    ]
    if wrong:
        yield _to_embed_again(connection, VECTORS, "vectors are not those that were written", wrong)


def _is_unit(data: bytes) -> bool:
    vector = np.frombuffer(data, dtype="<f4").astype(np.float64)
    return bool(abs(np.sqrt(np.add.reduce(np.square(vector))) - 1.0) <= UNIT_TOLERANCE)


def _sentences(connection: Connection) -> Iterator[Finding]:
    identity = read_embedder(connection)
    dimension = 1 if identity is None else identity.dimension
    rows = connection.execute(
        "SELECT v.text_id, v.data, s.crc FROM sentences AS v LEFT JOIN sentences_sum AS s ON s.text_id = v.text_id"
    )
    wrong = [
        text for text, data, crc in rows if len(data) % dimension or (crc is not None and crc32(data) != crc)
    ]
    if wrong:
        yield _to_embed_again(
            connection, SENTENCES, "vectors of sentences are not those that were written", wrong
        )


def _pictures(connection: Connection) -> Iterator[Finding]:
    """Vectors of pictures that differ from their checksum."""
    wrong = {chunk: uri for chunk, uri, _, whole in vectors_as_stored(connection) if not whole}
    if wrong:
        yield Finding(
            kind=_PICTURES,
            severity=Severity.DAMAGE,
            problem="vectors of pictures are not those that were written",
            where=tuple(wrong.values()),
            remedy=f"a repair drops them, and  {EMBED_PICTURES}  makes them again",
            repairable=True,
            keys=tuple(wrong),
        )


def _to_embed_again(connection: Connection, kind: str, problem: str, texts: Sequence[int]) -> Finding:
    return Finding(
        kind=kind,
        severity=Severity.DAMAGE,
        problem=problem,
        where=tuple(_holders(connection, texts)),
        remedy=_EMBED_AGAIN,
        repairable=True,
        keys=tuple(texts),
    )


def _holders(connection: Connection, texts: Sequence[int]) -> list[str]:
    """Return, for each text by number, one node that has it."""
    rows = connection.execute(
        """
        SELECT coalesce(
            (SELECT uri FROM chunk WHERE text_id = j.value), (SELECT uri FROM section WHERE text_id = j.value),
            (SELECT uri FROM name WHERE text_id = j.value), (SELECT type FROM relation_type WHERE text_id = j.value),
            'nothing'
        ) FROM json_each(?) AS j ORDER BY j.key
        """,
        [as_json(texts)],
    )
    return [uri for (uri,) in rows]


def _forms(connection: Connection) -> Iterator[Finding]:
    """Titles whose lookup forms are not those derived from them."""
    rows = connection.execute(
        "SELECT n.id, n.uri, l.form, l.shortened FROM name AS n LEFT JOIN lookup AS l ON l.name_id = n.id ORDER BY n.id"
    )
    wrong: dict[int, str] = {}
    for (number, uri), own in groupby(rows, key=itemgetter(0, 1)):
        if {(form, short) for _, _, form, short in own if form is not None} != set(forms_of(uri)):
            wrong[number] = uri
    if wrong:
        yield Finding(
            kind=_FORMS,
            severity=Severity.STALE,
            problem="normalised forms of titles do not follow from the titles",
            where=tuple(wrong.values()),
            remedy=_AGAIN,
            repairable=True,
            keys=tuple(wrong),
        )


def _terms(connection: Connection) -> Iterator[Finding]:
    counted, stored = _counted_terms(connection), dict(connection.execute("SELECT term, df FROM term"))
    wrong = sorted(term for term in counted.keys() | stored.keys() if counted[term] != stored.get(term))
    if wrong:
        yield Finding(
            kind=_TERMS,
            severity=Severity.STALE,
            problem="numbers of chunks in which terms occur are wrong",
            where=tuple(wrong),
            remedy=_AGAIN,
            repairable=True,
        )


def _counted_terms(connection: Connection) -> Counter[str]:
    counted: Counter[str] = Counter()
    for of_headings, of_text in connection.execute("SELECT heading_terms, terms FROM chunk"):
        counted.update({*of_headings.split(), *of_text.split()})
    return counted


_LEADS_WRONG = """
    SELECT id, uri FROM name WHERE leads_to IS NOT CASE WHEN id IN (SELECT id FROM page) THEN NULL ELSE (
        SELECT a.page_id FROM alias AS a JOIN name AS p ON p.id = a.page_id
        WHERE a.name_id = name.id ORDER BY p.uri LIMIT 1
    ) END OR (leads_to IS NULL) != (text_id IS NOT NULL)
    OR (leads_to IS NOT NULL AND id IN (SELECT name_id FROM entity_type))
    """
_UNUSED_NAMES = """
    SELECT id, uri FROM name WHERE id NOT IN (SELECT id FROM page)
    AND NOT EXISTS (SELECT 1 FROM citation WHERE name_id = name.id)
    AND NOT EXISTS (SELECT 1 FROM alias WHERE name_id = name.id)
    AND NOT EXISTS (SELECT 1 FROM relation WHERE source_id = name.id)
    AND NOT EXISTS (SELECT 1 FROM relation WHERE target_id = name.id)
    """
_UNUSED_TYPES = """
    SELECT id, type FROM relation_type WHERE NOT EXISTS (SELECT 1 FROM relation WHERE type_id = relation_type.id)
    """
_UNUSED_TEXTS = """
    SELECT id, hash FROM text WHERE NOT EXISTS (SELECT 1 FROM chunk WHERE text_id = text.id)
    AND NOT EXISTS (SELECT 1 FROM section WHERE text_id = text.id)
    AND NOT EXISTS (SELECT 1 FROM name WHERE text_id = text.id)
    AND NOT EXISTS (SELECT 1 FROM relation_type WHERE text_id = text.id)
    """


def _leftovers(connection: Connection) -> Iterator[Finding]:
    """Titles that resolve to another page than their claims say, and rows that nothing refers to."""
    found = [
        name
        for query in (_LEADS_WRONG, _UNUSED_NAMES, _UNUSED_TYPES, _UNUSED_TEXTS)
        for _, name in connection.execute(query)
    ]
    if found:
        yield Finding(
            kind=_LEFTOVERS,
            severity=Severity.DAMAGE,
            problem="titles lead elsewhere than their claims say, or nothing mentions them",
            where=tuple(found),
            remedy="a repair puts titles right and removes what nothing mentions",
            repairable=True,
        )


_COUNT_UNSUMMED = {
    "vectors": "SELECT count(*) FROM vector WHERE text_id NOT IN (SELECT text_id FROM vector_sum)",
    "vectors of sentences": (
        "SELECT count(*) FROM sentences WHERE text_id NOT IN (SELECT text_id FROM sentences_sum)"
    ),
}


def _unsummed(connection: Connection) -> Iterator[Finding]:
    counts = {what: connection.execute(query).fetchone()[0] for what, query in _COUNT_UNSUMMED.items()}
    without = [f"{count:,} {what}" for what, count in counts.items() if count]
    if without:
        yield Finding(
            kind=_UNSUMMED,
            severity=Severity.NOTE,
            problem="written by an earlier version, without checksums",
            where=tuple(without),
            remedy="a repair adds checksums of what is there now",
            repairable=True,
        )


FINDS = (_texts, _names, _vectors, _sentences, _pictures, _forms, _terms, _leftovers, find_damage, _unsummed)


# -- repairs -----------------------------------------------------------------------------------------------------


def drop_vectors(connection: Connection, texts: Sequence[int]) -> None:
    """Remove the vectors of texts, by number."""
    these = [as_json(texts)]
    dropped = connection.execute(
        "DELETE FROM vector WHERE text_id IN (SELECT value FROM json_each(?))", these
    )
    adjust(connection, {"vectors": -dropped.rowcount})
    connection.execute("DELETE FROM vector_sum WHERE text_id IN (SELECT value FROM json_each(?))", these)
    begin_state(connection)


def drop_sentences(connection: Connection, texts: Sequence[int]) -> None:
    """Remove the sentence vectors of texts, by number."""
    these = [as_json(texts)]
    connection.execute("DELETE FROM sentences WHERE text_id IN (SELECT value FROM json_each(?))", these)
    connection.execute("DELETE FROM sentences_sum WHERE text_id IN (SELECT value FROM json_each(?))", these)
    begin_state(connection)


def give_up_pages(connection: Connection, pages: Sequence[str]) -> None:
    """Mark these pages so that their next load replaces them, whatever their content and revision."""
    connection.execute(
        "UPDATE page SET content_hash = '', revision = NULL WHERE id IN"
        " (SELECT n.id FROM json_each(?) AS j JOIN name AS n ON n.uri = j.value)",
        [as_json(pages)],
    )


def _make_forms(connection: Connection, names: Sequence[int]) -> None:
    these = [as_json(names)]
    connection.execute("DELETE FROM lookup WHERE name_id IN (SELECT value FROM json_each(?))", these)
    uris = connection.execute(
        "SELECT id, uri FROM name WHERE id IN (SELECT value FROM json_each(?))", these
    ).fetchall()
    connection.executemany(
        "INSERT INTO lookup (form, name_id, shortened) VALUES (?, ?, ?)",
        ((form, number, shortened) for number, uri in uris for form, shortened in forms_of(uri)),
    )


def _count_terms(connection: Connection, _keys: Sequence[int]) -> None:
    connection.execute("DELETE FROM term")
    connection.executemany(
        "INSERT INTO term (term, df) VALUES (?, ?)", sorted(_counted_terms(connection).items())
    )


def _tidy(connection: Connection, _keys: Sequence[int]) -> None:
    def numbers(query: str) -> set[int]:
        return {number for number, _ in connection.execute(query)}

    reconcile(
        connection,
        Touched(
            claimed=numbers(_LEADS_WRONG),
            mentioned=numbers(_UNUSED_NAMES),
            types=numbers(_UNUSED_TYPES),
            texts=numbers(_UNUSED_TEXTS),
        ),
    )
    begin_state(connection)


def _sum(connection: Connection, _keys: Sequence[int]) -> None:
    connection.create_function("crc32", 1, crc32, deterministic=True)
    connection.execute(
        "INSERT OR IGNORE INTO vector_sum (text_id, crc) SELECT text_id, crc32(data) FROM vector"
    )
    connection.execute(
        "INSERT OR IGNORE INTO sentences_sum (text_id, crc) SELECT text_id, crc32(data) FROM sentences"
    )


REPAIRS: Mapping[str, Callable[[Connection, Sequence[int]], None]] = {
    VECTORS: drop_vectors,
    SENTENCES: drop_sentences,
    _PICTURES: drop_picture_vectors,
    _FORMS: _make_forms,
    _TERMS: _count_terms,
    _LEFTOVERS: _tidy,
    QUESTIONS: drop_questions,
    _UNSUMMED: _sum,
}
"""The repair for each kind of finding. Repairs run inside a transaction."""
