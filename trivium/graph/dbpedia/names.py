"""Names: what is taken from DBpedia and how it reads, and how IRIs and the titles of this graph correspond."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

from trivium.graph.schema import page_uri, unescape
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


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Which statements count.

    ``language`` is that of the encyclopaedia (its host at wikipedia.org). ``relations`` and ``types`` are the
    namespaces whose predicates become relations and whose classes become types; everything else is left out.
    """

    language: str = "en"
    relations: tuple[str, ...] = (ONTOLOGY, PROPERTY)
    types: tuple[str, ...] = (ONTOLOGY,)

    def relation(self, predicate: str) -> str | None:
        """The type of the relation a predicate states, None when it states none.

        >>> Vocabulary().relation("http://dbpedia.org/ontology/deathPlace")
        'death place'
        >>> Vocabulary().relation("http://dbpedia.org/ontology/wikiPageWikiLink") is None
        True
        """
        return _name(predicate, self.relations)

    def type(self, kind: str) -> str | None:
        """The type a class stands for, None when it is not taken.

        >>> Vocabulary().type("http://dbpedia.org/ontology/PopulatedPlace")
        'populated place'
        """
        return _name(kind, self.types)


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
        rest = _after(iri, self._pages)
        return None if rest is None else _uri(re.split("[?#]", rest, maxsplit=1)[0])

    def of_resource(self, iri: str) -> str | None:
        """The uri of the title a DBpedia resource is named by; None for any other IRI.

        >>> Titles().of_resource("http://dbpedia.org/resource/C%23_(language)")
        'C%23 (language)'
        """
        rest = _after(iri, self._resources)
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


def _after(iri: str, prefixes: tuple[str, ...]) -> str | None:
    if not iri.startswith(prefixes):
        return None
    return next((iri[len(prefix) :] for prefix in prefixes if iri.startswith(prefix)), None)


def _uri(name: str) -> str:
    return page_uri(normalise_title(unquote(name)))


def _spellings(uri: str) -> list[str]:
    name = unescape(uri).replace(" ", "_")
    with_letters = _ENCODED.sub(lambda found: quote(found.group(), safe=""), name)
    return list(dict.fromkeys([with_letters, quote(name, safe=_PLAIN)]))
