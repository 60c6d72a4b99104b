"""What is taken from DBpedia and how it reads: namespaces by allow-list, names as people write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from trivium.text import normalise_title

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
