"""The graph store in a folder. SQLite is the source of truth; USearch and tantivy index files beside it are derived
and rebuilt when needed.
"""

from trivium.graph.sqlite.store import EmbeddedStore

__all__ = ["EmbeddedStore"]
