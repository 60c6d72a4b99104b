"""The write operations of the store. Each is one transaction that first takes the store's lock; one that changes
nothing leaves no trace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from neo4j import AsyncManagedTransaction

from trivium.graph.neo4j.answered_questions import answer
from trivium.graph.neo4j.apply_change import apply_change
from trivium.graph.neo4j.change_log import Touched
from trivium.graph.neo4j.connection import rows
from trivium.graph.neo4j.cypher import reading
from trivium.graph.neo4j.cypher import writing as cypher
from trivium.graph.neo4j.insert import Parts
from trivium.graph.neo4j.reconcile import Change, new_claims, read_statements
from trivium.graph.neo4j.store_part import StorePart
from trivium.graph.neo4j.vectors import find_vectors, keep_vectors
from trivium.graph.neo4j.write_steps import in_batches, lock, next_version
from trivium.graph.page_checks import check_keys, check_page, check_relations
from trivium.graph.page_facts import BLOCKS, check_chunker, choose, latest
from trivium.graph.page_graph import PageGraph, QuestionNode, RelationEdge
from trivium.graph.records import WriteReport
from trivium.graph.schema import entity_text
from trivium.graph.stored_vectors import text_hash


async def _claim_chunker(transaction: AsyncManagedTransaction, chunker: str) -> None:
    """Record what split the pages into chunks. Raises an error if existing pages were split by something else."""
    noted, filled = (await rows(transaction, reading.READ_CHUNKER))[0]
    check_chunker((noted or BLOCKS) if filled else None, chunker)
    if chunker != (noted or BLOCKS):
        await rows(transaction, cypher.NOTE, {"values": {"chunker": None if chunker == BLOCKS else chunker}})


class GraphWrites(StorePart):
    """The part of a store that writes the graph and what is recorded with it."""

    def write(self, pages: Sequence[PageGraph], chunker: str | None = None) -> WriteReport:
        for page in pages:
            check_page(page)
        chosen = latest(pages)
        claimed: dict[str, list[str]] = {}
        for page in pages:
            claimed.setdefault(page.uri, []).extend(page.aliases)

        async def write(transaction: AsyncManagedTransaction) -> WriteReport:
            embedded = await lock(transaction)
            if chunker is not None:
                await _claim_chunker(transaction, chunker)
            found = await in_batches(transaction, cypher.STORED_PAGES, "uris", list(chosen))
            stored = {uri: (content_hash, revision) for uri, content_hash, revision, _ in found}
            loaded, replaced, report = choose(chosen, stored)
            stored_aliases = {uri: list[str]() for uri in chosen} | {
                uri: aliases for uri, _, _, aliases in found
            }
            claims = new_claims(claimed, stored_aliases)
            if loaded or claims:
                parts = Parts()
                for page in loaded.values():
                    parts.add(page)
                change = Change(loaded=loaded, replaced=replaced, claims=claims)
                await apply_change(transaction, change, parts, embedded=embedded)
            return report

        return self._write(write)

    def add_aliases(self, aliases: Mapping[str, Sequence[str]]) -> None:
        for listed in aliases.values():
            check_keys(listed)

        async def write(transaction: AsyncManagedTransaction) -> None:
            embedded = await lock(transaction)
            found = await in_batches(transaction, cypher.STORED_PAGES, "uris", list(aliases))
            claims = new_claims(aliases, {uri: stored for uri, _, _, stored in found})
            if claims:
                await apply_change(transaction, Change(claims=claims), Parts(), embedded=embedded)

        self._write(write)

    def add_relations(self, relations: Mapping[str, Sequence[RelationEdge]]) -> int:
        for listed in relations.values():
            check_relations(listed)

        async def write(transaction: AsyncManagedTransaction) -> int:
            embedded = await lock(transaction)
            new: dict[str, list[RelationEdge]] = {}
            for page, stored in (await read_statements(transaction, relations)).items():
                old = {edge.triple for edge in stored}
                more = [edge for edge in RelationEdge.distinct(relations[page]) if edge.triple not in old]
                if more:
                    new[page] = more
            if new:
                await apply_change(transaction, Change(relations=new), Parts(), embedded=embedded)
            return sum(map(len, new.values()))

        return self._write(write)

    def put_questions(self, questions: Mapping[str, Sequence[QuestionNode]]) -> int:
        for asked in questions.values():
            check_keys([question.uri for question in asked])

        async def write(transaction: AsyncManagedTransaction) -> int:
            await lock(transaction)
            return await answer(transaction, questions)

        return self._write(write)

    def set_types(self, types: Mapping[str, str]) -> int:
        check_keys(types.values())
        titles, kinds = list(types), list(types.values())

        async def write(transaction: AsyncManagedTransaction) -> int:
            embedded = await lock(transaction)
            found = await rows(transaction, cypher.FIND_ENTITIES, {"titles": titles})
            wanted = {uri: (old, key, kinds[place]) for place, uri, old, key in sorted(found)}
            changed = {uri: (key, kind) for uri, (old, key, kind) in wanted.items() if kind != old}
            if not changed:
                return 0
            texts = {uri: entity_text(uri, kind) for uri, (_, kind) in changed.items()}
            keys = {uri: text_hash(text) for uri, text in texts.items()}
            vectors = await find_vectors(transaction, keys.values()) if embedded else {}
            renamed = [uri for uri, (key, _) in changed.items() if keys[uri] != key]
            await in_batches(transaction, cypher.DROP_VECTORS, "uris", renamed)
            type_rows = [
                {"uri": uri, "type": kind or None, "text": texts[uri], "text_hash": keys[uri]}
                for uri, (_, kind) in changed.items()
            ]
            await in_batches(transaction, cypher.SET_TYPES, "rows", type_rows)
            await keep_vectors(
                transaction, {keys[uri]: vectors[keys[uri]] for uri in renamed if keys[uri] in vectors}
            )
            await next_version(transaction, Touched.by(entities=changed))
            return len(changed)

        return self._write(write)

    def delete(self, uris: Sequence[str]) -> list[str]:
        asked = list(dict.fromkeys(uris))

        async def write(transaction: AsyncManagedTransaction) -> list[str]:
            embedded = await lock(transaction)
            found = await rows(transaction, cypher.FIND_PAGES, {"uris": asked})
            removed = {uri: aliases for _, uri, aliases in sorted(found)}
            if removed:
                await apply_change(transaction, Change(removed=removed), Parts(), embedded=embedded)
            return list(removed)

        return self._write(write)

    def set_fusion_decision(self, decision: str | None) -> None:
        self._note("fusion", decision)

    def set_links_pending(self, pending: bool) -> None:
        self._note("links_pending", True if pending else None)

    def set_entities(self, recogniser: str | None) -> None:
        self._note("entities", recogniser)

    def set_languages(self, languages: str | None) -> None:
        self._note("languages", languages)

    def _note(self, name: str, value: str | bool | None) -> None:
        """Replace or remove a property of the store's own node."""

        async def write(transaction: AsyncManagedTransaction) -> None:
            await lock(transaction)
            await rows(transaction, cypher.NOTE, {"values": {name: value}})

        self._write(write)
