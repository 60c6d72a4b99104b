"""Relations and types from DBpedia: dump files or a SPARQL endpoint, into a store that is already filled.

Needs the packages of the extra ``dbpedia`` only when a source does; they are imported when it is opened.
"""

from trivium.graph.dbpedia.enrich import EnrichReport, enrich
from trivium.graph.dbpedia.open_source import open_source
from trivium.graph.dbpedia.source import Reporter, Source

__all__ = ["EnrichReport", "Reporter", "Source", "enrich", "open_source"]
