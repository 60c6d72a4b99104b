"""The entities of a collection, and what its passages say of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from trivium.errors import InputError
from trivium.graph.page_graph import ChunkNode
from trivium.graph.protocols import GraphStore
from trivium.graph.records import ChunkRecord, page_numbers
from trivium.graph.schema import Hop, page_of, unescape
from trivium.parser.gazetteer import Gazetteer
from trivium.search.subgraph_drawings import find_entity
from trivium.text.normalise import sentences

_MOST_COMPARED = 50_000
"""Names that an unknown one is compared with."""


@dataclass(frozen=True, slots=True)
class EntityCount:
    """An entity, its kind (empty if unknown), whether it is a document (``page``), and how many passages and documents
    besides its own mention it.
    """

    uri: str
    name: str
    kind: str
    page: bool
    passages: int
    documents: int


@dataclass(frozen=True, slots=True)
class Saying:
    """A sentence of the passage ``uri``. ``section`` is the uri of its section or page, ``pages`` are the pages of a
    paginated document that it stands on.
    """

    uri: str
    document: str
    section: str
    pages: list[int]
    sentence: str


@dataclass(frozen=True, slots=True)
class StatedRelation:
    """A relation, and the sentence or row that says it, where that is known."""

    source: str
    type: str
    target: str
    said: Saying | None


@dataclass(frozen=True, slots=True)
class EntityCard:
    """What a collection says of an entity: the forms of its name, the most frequent first, the first ``sayings``, and
    relations. ``others`` are names that end with its name, of one word: what a document calls so may be any of these.
    """

    entity: EntityCount
    others: tuple[str, ...]
    forms: tuple[str, ...]
    sayings: tuple[Saying, ...]
    relations: tuple[StatedRelation, ...]


@dataclass(frozen=True, slots=True)
class SharedPassages:
    """Two entities, and how many passages mention both, or are of one and mention the other."""

    source: str
    target: str
    passages: int


def count_entities(
    store: GraphStore, kinds: Collection[str] | None, most: int
) -> tuple[list[EntityCount], Counter[str]]:
    """Return the entities that passages mention, those of most passages first: at most ``most``, only of ``kinds`` if
    given. The second value is the number of all mentioned entities by kind.
    """
    graph, types = store.adjacency(), store.types()
    first, count = len(graph.chunks), len(graph.entities)
    starts, own = graph.indptr[first:], graph.own_chunks[first:]
    entities = np.repeat(np.arange(count), np.diff(starts))
    chunks = graph.indices[starts[0] :]
    other = (chunks < own[entities, 0]) | (chunks >= own[entities, 1])
    entities, chunks = entities[other], chunks[other]
    passages = np.bincount(entities, minlength=count)
    pages = np.searchsorted(np.unique(own[own[:, 1] > 0, 0]), chunks, "right")
    pairs = np.unique(entities * (count + 1) + pages)
    documents = np.bincount(pairs // (count + 1), minlength=count)
    rows = np.lexsort((-documents, -passages))  # then by uri, as they are
    rows = rows[passages[rows] > 0]
    of_kind = Counter(types.get(graph.entities[row], "") for row in rows.tolist())
    if kinds is not None:
        of_these = [types.get(graph.entities[row], "") in kinds for row in rows.tolist()]
        rows = rows[np.array(of_these, np.bool_)]
    shown = []
    for row in rows[:most].tolist():
        uri, page = graph.entities[row], bool(own[row, 1])
        many = int(passages[row]), int(documents[row])
        shown.append(EntityCount(uri, unescape(uri), types.get(uri, ""), page, *many))
    return shown, of_kind


def shared_passages(store: GraphStore, entities: Sequence[str]) -> list[SharedPassages]:
    """Return which of the ``entities`` share passages, those that share most first. Time grows with the square of their
    number.
    """
    graph = store.adjacency()
    known = [uri for uri in dict.fromkeys(entities) if uri in graph.entity_rows]
    rows = [len(graph.chunks) + graph.entity_rows[uri] for uri in known]
    passages = [graph.indices[graph.indptr[row] : graph.indptr[row + 1]] for row in rows]
    found = []
    for place, one in enumerate(known):
        mentioned = np.zeros(len(graph.chunks), np.bool_)
        mentioned[passages[place]] = True
        for other, mentioning in zip(known[place + 1 :], passages[place + 1 :], strict=True):
            if shared := int(np.count_nonzero(mentioned[mentioning])):
                found.append(SharedPassages(one, other, shared))
    return sorted(found, key=lambda pair: -pair.passages)


def describe_entity(store: GraphStore, name: str, most: int) -> EntityCard:
    """Return what the first ``most`` passages say of an entity, by title, alias or nearly one of these. Raises
    InputError for an unknown name, with those that it is the last word of, or else the nearest.
    """
    uri = find_entity(store, name)
    if uri is None:
        names = map(unescape, store.adjacency().entities[:_MOST_COMPARED])
        near = _ending_with(store, name, ("person", "")) or get_close_matches(name, list(names))
        hint = (
            f"did you mean {' or '.join(near)}?"
            if near
            else "a name that one passage alone has is none: search for it"
        )
        raise InputError(f"no entity is called {name}; {hint}")
    chunks = [chunk for chunk in store.expand([uri], Hop.CITED_IN)[uri] if page_of(chunk) != uri]
    kind = store.types([uri]).get(uri, "")
    page = bool(store.find_pages([uri]))
    entity = EntityCount(uri, unescape(uri), kind, page, len(chunks), len(set(map(page_of, chunks))))
    shown = chunks[:most]
    aliases = [alias for graph in store.page_graphs([uri]) for alias in graph.aliases]
    titles = Gazetteer((unescape(title), uri) for title in (uri, *aliases))
    nodes = {
        chunk.uri: chunk
        for graph in store.page_graphs(list(dict.fromkeys(map(page_of, shown))))
        for chunk in graph.chunks
    }
    shown = [chunk for chunk in shown if chunk in nodes]  # others were removed meanwhile
    resolved = store.resolve([one.uri for chunk in shown for one in nodes[chunk].names])
    forms: Counter[str] = Counter()
    sayings = []
    for record in store.fetch(shown):
        chunk = nodes[record.uri]
        places = [(one.start, one.end) for one in chunk.names if resolved.get(one.uri) == uri]
        places += [(mention.start, mention.end) for mention in titles.find(chunk.body)]
        forms.update(chunk.body[start:end] for start, end in dict.fromkeys(places))
        sentence = _sentence(chunk, min(places)[0]) if places else chunk.body
        sayings.append(_saying(record, sentence))
    listed = sorted(forms, key=lambda form: (-forms[form], form))
    others = _ending_with(store, unescape(uri), ("person",)) if kind in ("person", "") and not page else ()
    stated = store.relations([uri])
    said = {one.uri: one for one in store.fetch(list({edge.chunk for edge in stated if edge.chunk}))}
    relations = []
    for edge in stated:
        passage = said.get(edge.chunk)
        saying = None if passage is None else _saying(passage, passage.body[edge.start : edge.end])
        relations.append(StatedRelation(*edge.triple, saying))
    return EntityCard(entity, tuple(others), tuple(listed), tuple(sayings), tuple(relations))


def _saying(passage: ChunkRecord, sentence: str) -> Saying:
    return Saying(passage.uri, passage.document, passage.section, page_numbers(passage.pages), sentence)


def _ending_with(store: GraphStore, name: str, kinds: Collection[str]) -> list[str]:
    """Return the names of these kinds that end with a name of one word."""
    end = f" {name.casefold()}"
    found = [uri for uri in store.adjacency().entities if " " not in name and uri.casefold().endswith(end)]
    types = store.types(found)
    return [unescape(uri) for uri in found if types.get(uri, "") in kinds]


def _sentence(chunk: ChunkNode, place: int) -> str:
    """Return the sentence of a chunk at an offset."""
    spans = [span for span in sentences(chunk.body) if span[0] <= place < span[1]]
    start, end = spans[0] if spans else (0, len(chunk.body))
    return chunk.body[start:end]
