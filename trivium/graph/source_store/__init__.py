"""A store over a source of truth of one's own: whatever keeps pages, settings and vectors."""

from trivium.graph.source_store.source_of_truth import SourceOfTruth as SourceOfTruth
from trivium.graph.source_store.source_of_truth import StoredPage as StoredPage
from trivium.graph.source_store.store import SourceStore as SourceStore
