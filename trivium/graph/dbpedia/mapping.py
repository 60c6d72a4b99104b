"""From statements about resources to relations and types of the store's entities."""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self
from urllib.parse import quote, unquote

import numpy as np
from numpy.typing import NDArray

from trivium.graph.page_graph import RelationEdge
from trivium.graph.records import Adjacency
from trivium.graph.schema import page_of, page_uri, unescape
from trivium.graph.string_table import rows_of
from trivium.text.normalise import normalise_title

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
SUBCLASS = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
PRIMARY_TOPIC = "http://xmlns.com/foaf/0.1/isPrimaryTopicOf"
ONTOLOGY = "http://dbpedia.org/ontology/"
PROPERTY = "http://dbpedia.org/property/"

# Before a capital that follows anything else, and before the last capital of an abbreviation: TVShow, isPartOf.
_SEAM = re.compile(r"(?<=[^\WA-Z_])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# The extraction's own bookkeeping: wikiPageWikiLink, wikiPageRedirects, wikiPageUsesTemplate ...
_PLUMBING = "wikiPage"


@lru_cache(maxsize=1 << 16)
def relation_type(predicate: str) -> str | None:
    """The type of the relation a predicate states, None when it states none.

    >>> relation_type("http://dbpedia.org/ontology/deathPlace")
    'death place'
    >>> relation_type("http://dbpedia.org/ontology/wikiPageWikiLink") is None
    True
    """
    return _name(predicate, (ONTOLOGY, PROPERTY))


@lru_cache(maxsize=1 << 16)
def class_type(kind: str) -> str | None:
    """The type a class stands for, None when it is not taken.

    >>> class_type("http://dbpedia.org/ontology/PopulatedPlace")
    'populated place'
    """
    return _name(kind, (ONTOLOGY,))


def _name(iri: str, namespaces: tuple[str, ...]) -> str | None:
    namespace = next((prefix for prefix in namespaces if iri.startswith(prefix)), None)
    if namespace is None:
        return None
    local = re.split("[/#]", iri[len(namespace) :])[-1]
    # A colon marks what is borrowed from elsewhere: ontology/Wikidata:Q11424.
    if local.startswith(_PLUMBING) or ":" in local:
        return None
    return readable(local) or None


def readable(local: str) -> str:
    """A local name as people write it.

    >>> readable("isPartOf"), readable("TVShow"), readable("birth_place")
    ('is part of', 'tv show', 'birth place')
    """
    return normalise_title(_SEAM.sub(" ", unquote(local))).lower()


# What neither MediaWiki nor DBpedia encodes in a title; letters beyond ASCII stand in an IRI as they are.
_PLAIN = "!$&'()*+,-./:;=@_~"
_ENCODED = re.compile(rf"[^A-Za-z0-9\u0080-\U0010ffff{re.escape(_PLAIN)}]")


class Titles:
    """The naming rules of one language: which titles IRIs stand for, and under which IRIs a title may be found."""

    def __init__(self, language: str = "en") -> None:
        hosts = ["dbpedia.org", "en.dbpedia.org"] if language == "en" else [f"{language}.dbpedia.org"]
        self._resources = tuple(
            f"{scheme}://{host}/resource/" for host in hosts for scheme in ("http", "https")
        )
        hosts = [f"{language}.wikipedia.org", f"{language}.m.wikipedia.org"]
        self._pages = tuple(f"{scheme}://{host}/wiki/" for host in hosts for scheme in ("http", "https"))

    def of_page(self, iri: str) -> str | None:
        """The uri of the title a Wikipedia page has; None for any other address.

        >>> Titles().of_page("http://en.wikipedia.org/wiki/Albrecht_D%C3%BCrer")
        'Albrecht Dürer'
        """
        rest = next((iri[len(prefix) :] for prefix in self._pages if iri.startswith(prefix)), None)
        return None if rest is None else _uri(re.split("[?#]", rest, maxsplit=1)[0])

    def of_resource(self, iri: str) -> str | None:
        """The uri of the title a DBpedia resource is named by; None for any other IRI.

        >>> Titles().of_resource("http://dbpedia.org/resource/C%23_(language)")
        'C%23 (language)'
        """
        rest = next((iri[len(prefix) :] for prefix in self._resources if iri.startswith(prefix)), None)
        return None if rest is None else _uri(rest)

    def pages(self, uri: str) -> list[str]:
        """The addresses under which data sets know the page of a title.

        >>> Titles().pages("Mars")
        ['http://en.wikipedia.org/wiki/Mars', 'https://en.wikipedia.org/wiki/Mars']
        """
        return [prefix + name for name in _spellings(uri) for prefix in self._pages[:2]]

    def resources(self, uri: str) -> list[str]:
        """The IRIs of the resource named by a title: letters beyond ASCII as they are, and percent-encoded."""
        return [self._resources[0] + name for name in _spellings(uri)]

    def page(self, title: str) -> str:
        """The address of the page of a title as people and data sets write it (underscores for spaces)."""
        return self._pages[0] + _spellings(page_uri(title))[0]


def canonical(iri: str) -> str:
    """One spelling of an IRI that data sets write with and without percent-encoding."""
    return unquote(iri) if "%" in iri else iri


def _uri(name: str) -> str:
    return page_uri(normalise_title(unquote(name)))


def _spellings(uri: str) -> list[str]:
    name = unescape(uri).replace(" ", "_")
    with_letters = _ENCODED.sub(lambda found: quote(found.group(), safe=""), name)
    return list(dict.fromkeys([with_letters, quote(name, safe=_PLAIN)]))


Rows = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Mentions:
    """Entities by row, in uri order, and for entity i the pages that mention it, as rows of entities:
    ``pages[indptr[i]:indptr[i+1]]``, rising. A page mentions itself and what its chunks cite."""

    entities: Sequence[str]
    rows: Mapping[str, int]
    indptr: Rows
    pages: Rows

    @classmethod
    def of(cls, graph: Adjacency) -> Self:
        """From the links between chunks and entities, which hold each chunk's own page as well.

        Chunks of a page that is not among the entities are left out: it was loaded while the graph was read.
        """
        chunks, size = len(graph.chunks), len(graph.entities)
        own = rows_of(graph.entity_rows, [page_of(uri) for uri in graph.chunks]).astype(np.int32)
        page = np.repeat(own, np.diff(graph.indptr[: chunks + 1]))
        entity = graph.indices[: graph.indptr[chunks]] - chunks
        mentioned = page >= 0
        page, entity = page[mentioned], entity[mentioned]
        pairs = np.unique(entity.astype(np.int64) * size + page)
        indptr = np.searchsorted(pairs, np.arange(size + 1, dtype=np.int64) * size)
        return cls(
            graph.entities,
            graph.entity_rows,
            indptr.astype(np.int32),
            (pairs % max(size, 1)).astype(np.int32),
        )

    def together(self, first: int, second: int) -> Rows:
        """The pages that mention both entities, rising."""
        few, many = self._pages(first), self._pages(second)
        if len(few) > len(many):
            few, many = many, few
        if not len(few):
            return few
        places = np.searchsorted(many, few)
        # A place behind the end belongs to a page later than all of them, which the last one cannot equal.
        shared: Rows = few[many[np.minimum(places, len(many) - 1)] == few]
        return shared

    def _pages(self, row: int) -> Rows:
        return self.pages[self.indptr[row] : self.indptr[row + 1]]


class Resources:
    """Which entity (by row) a resource is.

    A resource whose Wikipedia page is known from ``foaf:isPrimaryTopicOf`` is the entity of that page's title, or
    none; one without such a statement is the entity whose title is its local name. ``rows`` maps titles and
    aliases (as uris) to entities. Of several pages the first in uri order that the store has counts, so that
    the order of the statements does not matter.
    """

    def __init__(self, rows: Mapping[str, int], titles: Titles) -> None:
        self._rows = rows
        self._titles = titles
        self._linked: dict[str, int | None] = {}
        # Dumps are sorted by subject, and countries are everybody's object.
        self._named = lru_cache(maxsize=1 << 16)(self._look_up)

    def link(self, resource: str, page: str) -> None:
        """A resource is the primary topic of a page."""
        title = self._titles.of_page(page)
        if title is None:
            return
        key = canonical(resource)
        row, linked = self._rows.get(title), self._linked.get(key)
        if row is not None:
            self._linked[key] = row if linked is None else min(row, linked)
        elif linked is None and self._named(resource) is not None:
            # Remembered only where the name would mislead, which keeps this as small as the store.
            self._linked[key] = None

    def entity(self, resource: str) -> int | None:
        """The row of the entity, None where the store has none for the resource."""
        key = canonical(resource)
        return self._linked[key] if key in self._linked else self._named(resource)

    def _look_up(self, resource: str) -> int | None:
        title = self._titles.of_resource(resource)
        return None if title is None else self._rows.get(title)


class Kinds:
    """Collects the classes of entities (by row) and the hierarchy of classes, and chooses.

    A class above another class of the same entity is out. Of those that remain, also when the data hold no
    hierarchy, the one that the fewest entities of the store have is taken: what is rare says most. Ties go to
    the type that comes first in the alphabet.
    """

    def __init__(self) -> None:
        self._kinds: defaultdict[int, set[str]] = defaultdict(set)
        self._parents: defaultdict[str, set[str]] = defaultdict(set)

    def add(self, row: int, kind: str) -> None:
        """An entity is an instance of a class; classes outside the allow-list are passed over."""
        if class_type(kind) is not None:
            self._kinds[row].add(sys.intern(kind))

    def place(self, kind: str, parent: str) -> None:
        """A class is below another."""
        if kind != parent and class_type(kind) is not None and class_type(parent) is not None:
            self._parents[kind].add(parent)

    def choose(self) -> Mapping[int, str]:
        """Entity -> type as people say it, by row."""
        frequency = Counter(kind for kinds in self._kinds.values() for kind in kinds)
        above = {kind: self._above(kind) for kind in frequency}
        chosen = {}
        for row, kinds in sorted(self._kinds.items()):
            # Classes that are each above the other leave nothing over; then they all count.
            lowest = kinds - {parent for kind in kinds for parent in above[kind]} or kinds
            _, name, _ = min((frequency[kind], class_type(kind) or "", kind) for kind in lowest)
            chosen[row] = name
        return chosen

    def _above(self, kind: str) -> set[str]:
        """Every class above a class, itself not."""
        found: set[str] = set()
        waiting = [kind]
        while waiting:
            parents = self._parents.get(waiting.pop(), set()) - found
            found |= parents
            waiting.extend(parents)
        return found - {kind}


class Relations:
    """Collects relations between entities (rows of ``mentions``) and gives them out page by page."""

    def __init__(self, mentions: Mentions) -> None:
        self._mentions = mentions
        self._found: defaultdict[tuple[int, int], set[str]] = defaultdict(set)

    def add(self, source: int, type: str, target: int) -> None:
        """Take a relation, unless it leads to itself or no document mentions both ends."""
        pair = (source, target)
        if source != target and (pair in self._found or len(self._mentions.together(source, target))):
            self._found[pair].add(type)

    def __len__(self) -> int:
        return sum(len(types) for types in self._found.values())

    def by_page(self) -> Iterator[tuple[str, list[RelationEdge]]]:
        """(page, the relations it bears witness to), pages by uri, relations by source, target and type."""
        uris = self._mentions.entities
        edges: list[RelationEdge] = []
        pages: defaultdict[int, list[int]] = defaultdict(list)
        for (source, target), types in sorted(self._found.items()):
            numbers = range(len(edges), len(edges) + len(types))
            edges.extend(RelationEdge(uris[source], type, uris[target]) for type in sorted(types))
            for page in self._mentions.together(source, target).tolist():
                pages[page].extend(numbers)
        for page in sorted(pages):
            yield uris[page], [edges[number] for number in pages[page]]
