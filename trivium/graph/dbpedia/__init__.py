"""Relations and types from DBpedia: dump files or a SPARQL endpoint, into a store that is already filled.

Needs the packages of the extra ``dbpedia`` only when a source does; they are imported when it is opened.
"""

from trivium.graph.dbpedia.enrich import enrich
from trivium.graph.dbpedia.open import open_source
from trivium.graph.dbpedia.report import EnrichReport
from trivium.graph.dbpedia.source import Source, Watch
from trivium.graph.dbpedia.vocabulary import Vocabulary

__all__ = ["EnrichReport", "Source", "Vocabulary", "Watch", "enrich", "open_source"]
