"""The graph in a folder: SQLite holds the truth, USearch and tantivy files beside it are rebuilt at need."""

from trivium.graph.embedded.store import EmbeddedStore

__all__ = ["EmbeddedStore"]
