"""Several stores as one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from trivium.errors import EmbedderMismatchError
from trivium.graph.chunker import check_chunker
from trivium.graph.filters import Condition
from trivium.graph.model import PageGraph, QuestionNode, RelationEdge
from trivium.graph.protocols import StoreChecker
from trivium.graph.records import (
    Codes,
    Passage,
    Pending,
    Progress,
    StoreInfo,
    Vectors,
    WaitingTexts,
    WriteReport,
)
from trivium.graph.relations import relation_embeddings
from trivium.graph.schema import Label
from trivium.graph.sharded.checker import ShardedChecker
from trivium.graph.sharded.manifest import Manifest
from trivium.graph.sharded.names import linked_titles, with_links_to
from trivium.graph.sharded.reads import Shard, ShardedReads, States
from trivium.graph.sharded.within import ShardedWithin
from trivium.graph.vectors import text_hash
from trivium.index_parameters import IndexParameters
from trivium.types import EmbedderIdentity


class ShardedStore(ShardedReads):
    """A :class:`trivium.graph.protocols.GraphStore` of several stores, the shards, each of which has some of the
    documents. Searches find what one store with all documents would find.

    A document is in one shard. One that is replaced stays there, a new one goes to the shard with the fewest. Each shard
    commits by itself: if a change of several documents is interrupted, those of some shards are changed, and repeating
    it completes it. Types of entities, languages, the embedder and the parameters of indexes are given to every shard.

    Differences to one store: aliases of a page lead from documents of another shard only if they were known when that
    document came; texts that two shards have are counted in both, and relations that two shards have count twice.
    """

    remote = False

    def __init__(
        self,
        manifest: Manifest,
        shards: Sequence[Shard],
        states: States | None = None,
        *,
        fixed: bool = False,
    ) -> None:
        """Use :func:`trivium.graph.factory.open_store`. ``fixed`` says that the shards do not change. Raises
        EmbedderMismatchError if different embedders filled the shards.
        """
        super().__init__(shards, States() if states is None else states, fixed=fixed)
        self._manifest = manifest
        if not fixed:
            check_embedders(shards)

    # -- lifecycle -------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close every shard."""
        for shard in self._shards:
            shard.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def location(self) -> str:
        return str(self._manifest.folder)

    @property
    def state(self) -> str:
        """The names of the shards' states."""
        return " ".join(shard.state for shard in self._shards)

    def frozen(self, readers: int) -> Self:
        """Return the store as it is now, for up to ``readers`` threads at once; each shard is in a committed state. The
        graph of the walk is joined already, so that no question has to wait for it.
        """
        with ExitStack() as stack:
            frozen = []
            for shard in self._shards:
                frozen.append(shard.frozen(readers))
                stack.callback(frozen[-1].close)
            store = type(self)(self._manifest, frozen, self._states, fixed=True)
            store.adjacency()
            stack.pop_all()
        return store

    @contextmanager
    def pinned(self) -> Iterator[ShardedStore]:
        """See the protocol."""
        if self._fixed:
            yield self
            return
        with ExitStack() as stack:
            shards = [stack.enter_context(shard.pinned()) for shard in self._shards]
            yield ShardedStore(self._manifest, shards, self._states, fixed=True)

    def within(self, condition: Condition) -> ShardedWithin:
        """See the protocol."""
        return ShardedWithin(
            self, condition, [shard.within(condition) for shard in self._shards], self._state
        )

    def refresh(self, progress: Progress | None = None) -> None:
        for shard in self._shards:
            shard.refresh(progress)

    def checker(self) -> StoreChecker:
        return ShardedChecker(self._shards)

    def waiting_texts(self) -> WaitingTexts:
        """See the protocol. A text of several shards counts once in each."""
        parts = [shard.waiting_texts() for shard in self._shards]
        return WaitingTexts(sum(part.waiting for part in parts), sum(part.texts for part in parts))

    def info(self) -> StoreInfo:
        """See the protocol. An entity of several shards is one."""
        parts = [shard.info() for shard in self._shards]
        nodes = {**_sums([part.nodes for part in parts])}
        nodes[str(Label.ENTITY)] = len(self.adjacency().entities)
        return StoreInfo(
            location=self.location,
            schema_version=min(part.schema_version for part in parts),
            embedder=self.embedder,
            nodes=nodes,
            relationships=_sums([part.relationships for part in parts]),
            aliases=len(self._held_aliases()),
            embedded=sum(part.embedded for part in parts),
            to_embed=sum(part.to_embed for part in parts),
            chunker=self.chunker,
            index=parts[0].index,
        )

    # -- documents -------------------------------------------------------------------------------------------------

    def write(self, pages: Sequence[PageGraph], chunker: str | None = None) -> WriteReport:
        """See the protocol. Each shard writes its pages in a transaction of its own."""
        if chunker is not None:
            check_chunker(self.chunker, chunker)
        aliases = {title: uri for title, uri in self.resolve(linked_titles(pages)).items() if uri != title}
        reports = []
        for number, own in self._places_for(pages).items():
            shard = self._shards[number]
            known = shard.resolve(list(aliases)) if aliases else {}
            elsewhere = {title: uri for title, uri in aliases.items() if known.get(title) != uri}
            reports.append(shard.write(with_links_to(own, elsewhere), chunker))
        return WriteReport(
            sum(report.added for report in reports),
            sum(report.replaced for report in reports),
            sum(report.unchanged for report in reports),
            tuple(uri for report in reports for uri in report.skipped),
        )

    def _places_for(self, pages: Sequence[PageGraph]) -> dict[int, list[PageGraph]]:
        """Map the number of a shard to the pages that it is to write. Copies of one page stay together."""
        uris = list(dict.fromkeys(page.uri for page in pages))
        homes = {uri: number for number, shard in enumerate(self._shards) for uri in shard.find_pages(uris)}
        sizes = [shard.count_pages() for shard in self._shards]
        for uri in uris:
            if uri not in homes:
                homes[uri] = sizes.index(min(sizes))
                sizes[homes[uri]] += 1
        places: dict[int, list[PageGraph]] = {}
        for page in pages:
            places.setdefault(homes[page.uri], []).append(page)
        return places

    def delete(self, pages: Sequence[str]) -> list[str]:
        stands_for = self.resolve(pages)
        gone = {uri for shard in self._shards for uri in shard.delete(pages)}
        order = dict.fromkeys(stands_for[page] for page in pages if page in stands_for)
        return [uri for uri in order if uri in gone]

    def add_aliases(self, aliases: Mapping[str, Sequence[str]]) -> None:
        self._each(lambda shard: shard.add_aliases(aliases))

    def add_relations(self, relations: Mapping[str, Sequence[RelationEdge]]) -> int:
        return sum(self._each(lambda shard: shard.add_relations(relations)))

    def put_questions(self, questions: Mapping[str, Sequence[QuestionNode]]) -> int:
        return sum(self._each(lambda shard: shard.put_questions(questions)))

    def set_types(self, types: Mapping[str, str]) -> int:
        before = self.types()
        self._each(lambda shard: shard.set_types(types))
        after = self.types()
        return sum(before.get(uri) != after.get(uri) for uri in {**before, **after})

    @property
    def chunker(self) -> str | None:
        return next((found for shard in self._shards if (found := shard.chunker) is not None), None)

    def set_links_pending(self, pending: bool) -> None:
        self._each(lambda shard: shard.set_links_pending(pending))

    def set_languages(self, languages: str | None) -> None:
        self._each(lambda shard: shard.set_languages(languages))

    @property
    def fusion_decision(self) -> str | None:
        return self._manifest.fusion

    def set_fusion_decision(self, decision: str | None) -> None:
        """See the protocol. The decision is that of all shards together; those of each stay as they are."""
        self._manifest = replace(self._manifest, fusion=decision)
        self._manifest.write()

    # -- vectors ---------------------------------------------------------------------------------------------------

    def set_embedder(self, identity: EmbedderIdentity) -> None:
        self._each(lambda shard: shard.set_embedder(identity))

    def pending_texts(self) -> Pending[str]:
        """See the protocol. Texts that several shards have come once."""
        parts = [part for part in (shard.pending_texts() for shard in self._shards) if len(part)]
        if len(parts) == 1:
            return parts[0]
        seen = [np.empty(0, dtype=np.uint64)]  # of each part the hashes of the texts before it
        for part in parts:
            own = [_hashes(texts) for texts in part.batches()]
            seen.append(np.unique(np.concatenate([seen[-1], *own])))

        def batches() -> Iterator[list[str]]:
            for part, before in zip(parts, seen, strict=False):
                for texts in part.batches():
                    known = np.isin(_hashes(texts), before).tolist()
                    yield [text for text, is_known in zip(texts, known, strict=True) if not is_known]

        return Pending(len(seen[-1]), batches)

    def put_vectors(self, texts: Sequence[str], vectors: Vectors) -> None:
        self._each(lambda shard: shard.put_vectors(texts, vectors))

    def pending_sentences(self) -> Pending[Passage]:
        """See the protocol. A passage begins with the title of its page, so that no two shards have the same."""
        parts = [shard.pending_sentences() for shard in self._shards]
        return Pending(sum(map(len, parts)), lambda: (batch for part in parts for batch in part.batches()))

    def count_pending_sentences(self) -> int:
        return sum(shard.count_pending_sentences() for shard in self._shards)

    def put_sentences(self, passages: Sequence[Passage], codes: Sequence[Codes]) -> None:
        self._each(lambda shard: shard.put_sentences(passages, codes))

    def relation_embeddings(self, relations: Sequence[RelationEdge]) -> Vectors:
        return relation_embeddings(self, relations)

    def set_image_embedder(self, identity: EmbedderIdentity) -> None:
        self._each(lambda shard: shard.set_image_embedder(identity))

    def pending_pictures(self) -> list[str]:
        return sorted(uri for shard in self._shards for uri in shard.pending_pictures())

    def put_picture_vectors(self, pictures: Mapping[str, bytes], vectors: Vectors) -> None:
        for shard, places, uris in self._split(list(pictures)):
            shard.put_picture_vectors({uri: pictures[uri] for uri in uris}, vectors[places])

    @property
    def index_parameters(self) -> IndexParameters:
        return self._shards[0].index_parameters

    def set_index_parameters(self, parameters: IndexParameters) -> None:
        self._each(lambda shard: shard.set_index_parameters(parameters))

    def _each(self, work: Callable[[Shard], int | None]) -> list[int]:
        return [work(shard) or 0 for shard in self._shards]


def check_embedders(shards: Sequence[Shard]) -> None:
    """Raise EmbedderMismatchError if different embedders filled the shards: their vectors cannot be compared."""
    first: tuple[str, EmbedderIdentity] | None = None
    for shard in shards:
        own = shard.embedder
        if own is None:
            continue
        if first is None:
            first = shard.location, own
        elif own != first[1]:
            named = [
                f"{place} was filled by {identity.name} version {identity.version} ({identity.dimension} dimensions)"
                for place, identity in (first, (shard.location, own))
            ]
            raise EmbedderMismatchError(
                f"expected shards with one embedder, but {' and '.join(named)}: build one of them again"
            )


def _sums(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    names = dict.fromkeys(name for part in counts for name in part)
    return {name: sum(part.get(name, 0) for part in counts) for name in names}


def _hashes(texts: Sequence[str]) -> NDArray[np.uint64]:
    return np.array([int(text_hash(text)[:16], 16) for text in texts], dtype=np.uint64)
