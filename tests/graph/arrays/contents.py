"""What an index holds, in a form that two indexes of one state have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from trivium.graph.arrays.snapshot import IndexSnapshot


def index_contents(index: IndexSnapshot) -> dict[str, Any]:
    """Everything as plain values, by rows: numbers, and where vectors and terms are, depend on what has been."""
    topology = index.topology
    found: dict[str, Any] = {"means": (topology.all_terms, topology.mean_terms)}
    for name in ("page", "section", "position", "terms", "page_entity", "section_page", "own_chunks"):
        found[name] = getattr(topology, name).tolist()
    for name in ("page_chunks", "page_sections", "cites", "cited_in", "links"):
        lists = getattr(topology, name)
        found[name] = (lists.indptr.tolist(), lists.indices.tolist())
    for label, nodes in topology.nodes.items():
        vectors = index.matrix.gather(nodes.vector)
        found[label] = (list(nodes.uris), np.nan_to_num(vectors, nan=9.0).tolist())
    every = np.arange(len(topology.position))
    sentences = index.sentences.of(every)
    found["sentences"] = (sentences.codes.tolist(), sentences.starts.tolist())
    for details in index.details:
        kinds = [details.kinds.names[code] for code in details.kinds.codes]
        found["details"] = (kinds, details.pages.tolist())
    terms = [term for term in index.terms.table if index.terms.document_frequency([term])[0]]
    found["terms"] = (terms, index.terms.document_frequency(terms).tolist())
    counts = index.terms.count(every, terms)
    found["counts"] = (counts.text.tolist(), counts.headings.tolist(), counts.places.tolist())
    return found
