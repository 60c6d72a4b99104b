"""Creates a store whose chunks are embedded without headings, as in the thesis, from a store embedded with them.

    python experiments/thesis/plain_store.py --store STORE --out PLAIN_STORE

Copies pages, links, relations and types, and the vectors of pages, sections, entities and relation types, which are the
same in both. Chunks are embedded again, sentences are not embedded. The command can be interrupted and repeated. Given
the documents, such a store is built directly by

    trivium build DOCUMENTS --store PLAIN_STORE --no-headings --no-sentences
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from experiments import command
from trivium.cli.terminal import progress
from trivium.common.iteration import batched
from trivium.embedding.late_chunking import is_plain
from trivium.engine import Engine
from trivium.errors import InputError, NotEmbeddedError
from trivium.graph.protocols import GraphStore
from trivium.graph.records import Vectors
from trivium.graph.schema import Label, entity_text

_AT_ONCE = 1_000
_PAGES_AT_ONCE = 200


def main() -> None:
    """Copy the store and embed its chunks."""
    parser = command.Parser(__doc__, takes="as embedding takes: 20 minutes for 25,000 passages")
    parser.add_argument(
        "--store", type=command.store, required=True, help="The store to copy; it is only read."
    )
    parser.add_argument("--out", required=True, help="The new store.")
    given = parser.parse_args()
    make(given.store, given.out)


def make(store: str, out: str) -> None:
    """Make the store ``out`` of another. Raises NotEmbeddedError, and the errors of opening and copying."""
    with Engine.open(store) as source:
        if source.store.embedder is None:
            raise NotEmbeddedError(f"nothing in {store} is embedded yet: its embedder is not known")
        with Engine.create(out, source.searcher.embedder.name) as engine, progress() as bars:
            copy_plain(source.store, engine, lambda done, total: bars("embed", done, total))
            print(f"{out}: {engine.store.count_pages():,} pages", file=sys.stderr)


def copy_plain(source: GraphStore, engine: Engine, told: Callable[[int, int], None] | None = None) -> None:
    """Copy a store into an engine's, and embed its chunks without headings. Raises InputError if the source has no
    headings in its vectors, since its files can be copied instead.
    """
    if is_plain(source.embedder):
        raise InputError(f"the chunks of {source.location} are embedded without headings already")
    target = engine.store
    for pages in batched(source.page_graphs(), _PAGES_AT_ONCE):
        target.write(pages, source.chunker)
    target.set_types(source.types())
    target.set_languages(source.languages)
    engine.searcher.embedder.leave_out_headings()
    target.set_embedder(engine.embedder.identity)
    _copy_vectors(source, target)
    engine.indexer.embed(told, headings=False)
    target.refresh()


def _copy_vectors(source: GraphStore, target: GraphStore) -> None:
    graph, types = source.adjacency(), source.types()
    entities = list(graph.entities)
    _put(
        target,
        entities,
        lambda uris: source.vectors(Label.ENTITY, uris),
        lambda uri: entity_text(uri, types.get(uri, "")),
    )
    pages = [page.uri for page in source.pages()]
    sections = [
        uri for some in batched(pages, _AT_ONCE) for own in source.outline(some).values() for uri in own
    ]
    _put(target, sections, lambda uris: source.vectors(Label.SUBCHAPTER, uris), str)
    kinds = sorted({edge.type for page in source.page_graphs() for edge in page.relations})
    _put(target, kinds, source.relation_vectors, str)


def _put(
    target: GraphStore,
    names: Iterable[str],
    vectors_of: Callable[[Sequence[str]], Vectors],
    text_of: Callable[[str], str],
) -> None:
    for some in batched(names, _AT_ONCE):
        vectors = vectors_of(some)
        known = np.flatnonzero(np.isfinite(vectors).all(axis=1)).tolist()
        target.put_vectors([text_of(some[row]) for row in known], vectors[known])


if __name__ == "__main__":
    command.run(main)
