"""Relations that a language model reads in the passages of a store. Each is kept only if the sentence that it names has
both names.

Replies are kept in a file under the home folder of the settings, one for each model and schema. A passage that was read
is not asked about again: by an interrupted run that goes on, after its document came back, or in another store.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from trivium.answering.passage_prompts import Source
from trivium.common.iteration import batched
from trivium.common.progress import StageProgress
from trivium.common.safe_files import JsonLines
from trivium.entities.linking import written_name
from trivium.entities.relation_prompt import MAX_NAME, RelationSchema, type_name
from trivium.graph.page_facts import each_page
from trivium.graph.page_graph import ChunkNode, RelationEdge
from trivium.graph.protocols import GraphStore
from trivium.graph.schema import Label, page_uri, unescape
from trivium.llm.chat_model import ChatModel
from trivium.llm.json_replies import listed_objects, one_line, whole_number
from trivium.parser.gazetteer import is_name
from trivium.settings.settings import load_settings
from trivium.text.normalise import normalise_name, normalise_title, sentences, without_parenthesis
from trivium.types import ChunkKind, Usage

_PAGES_A_WRITE = 50
_NOT_READ = frozenset({ChunkKind.CODE, ChunkKind.IMAGE})


@dataclass(slots=True)
class ModelRelationsReport:
    """What a language model read. Of ``passages``, ``asked`` were asked about now, with ``usage``, the others earlier;
    ``unreadable`` replies had another form. Of the ``stated`` relations those ``kept`` passed every check, the others
    were ``dropped``, by reason; ``added`` are new to their pages, ``types_set`` entities had no type. ``stopped`` if the
    budget was used up.
    """

    passages: int = 0
    asked: int = 0
    unreadable: int = 0
    stated: int = 0
    kept: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    added: int = 0
    types_set: int = 0
    usage: Usage = field(default_factory=Usage)
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class _Reply:
    key: str
    text: str


class _DroppedError(Exception):
    """A relation is not kept, for this reason."""


def add_model_relations(
    store: GraphStore,
    model: ChatModel,
    schema: RelationSchema | None = None,
    *,
    budget: int | None = None,
    progress: StageProgress | None = None,
) -> ModelRelationsReport:
    """Ask a model about the passages of a store, page by page, and add the relations that pass every check. Without a
    ``schema`` relations are free.

    When ``budget`` tokens are used, no more is asked. Raises ChatModelError when the model fails; what it said until then
    is in the store, and the same call goes on.
    """
    schema = RelationSchema() if schema is None else schema
    asked = schema.asked_by(model)
    file = f"{quote(model.name, safe='')[:40]}-{_hash(*asked)[:12]}.jsonl"
    log = JsonLines(load_settings().home / "relations" / file, _Reply)
    known = {reply.key: reply.text for reply in log.records()}
    report, done, total = ModelRelationsReport(), 0, store.info().nodes[Label.CHUNK]
    for pages in batched((page.uri for page in each_page(store)), _PAGES_A_WRITE):
        read: list[tuple[str, ChunkNode, str]] = []
        try:
            for page, chunk in [(one.uri, chunk) for one in store.page_graphs(pages) for chunk in one.chunks]:
                passage = Source(chunk.uri, page, chunk.parent, chunk.body)
                key = _hash(passage.headings, passage.text)
                if chunk.kind not in _NOT_READ and key not in known:
                    if budget is not None and report.usage.total >= budget:
                        report.stopped = True
                    else:
                        reply = schema.ask(passage, model)
                        report.asked, report.usage = report.asked + 1, report.usage + reply.usage
                        log.append(_Reply(key, reply.text))
                        known[key] = reply.text
                if key in known:
                    read.append((page, chunk, known[key]))
                done += 1
                if progress is not None:
                    progress("passages", done, total)
        finally:
            _write(store, schema, read, report)
    return report


def _hash(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _write(
    store: GraphStore,
    schema: RelationSchema,
    read: Sequence[tuple[str, ChunkNode, str]],
    report: ModelRelationsReport,
) -> None:
    """Add what is kept of ``read``: pages, chunks of them, and what was replied about these."""
    listed = [listed_objects(text, "relations", "source") for _, _, text in read]
    report.passages += len(read)
    report.unreadable += listed.count(None)
    names = {_text(one, side) for items in listed for one in items or () for side in ("source", "target")}
    resolved = store.resolve([_uri(form) for name in sorted(names) for form in (name, written_name(name)[0])])
    relations: dict[str, list[RelationEdge]] = defaultdict(list)
    types: dict[str, str] = {}
    for (page, chunk, _), items in zip(read, listed, strict=True):
        for one in items or ():
            report.stated += 1
            try:
                edge = _checked(one, chunk, schema, resolved)
            except _DroppedError as reason:
                report.dropped[str(reason)] = report.dropped.get(str(reason), 0) + 1
                continue
            report.kept += 1
            relations[page].append(edge)
            types.setdefault(edge.source, _text(one, "source_type").lower())
            types.setdefault(edge.target, _text(one, "target_type").lower())
    report.added += store.add_relations(relations)
    if schema.entities:
        entities = store.resolve(list(types))
        typed = store.types(list(entities.values()))
        report.types_set += store.set_types(
            {name: types[name] for name in entities if entities[name] not in typed}
        )


def _checked(
    one: Mapping[str, Any], chunk: ChunkNode, schema: RelationSchema, resolved: Mapping[str, str]
) -> RelationEdge:
    """Return a relation that a model states, with the sentence that says it. Raises _DroppedError."""
    try:
        relation = type_name(_text(one, "relation"))
    except ValueError:
        raise _DroppedError("no type of relation") from None
    if schema.relations and relation not in schema.relations:
        raise _DroppedError("no relation of the schema")
    types = {_text(one, f"{side}_type").lower() for side in ("source", "target")}
    if schema.entities and not types.issubset(schema.entities):
        raise _DroppedError("no type of the schema")
    spans, number = sentences(chunk.body), whole_number(one.get("sentence")) or 0
    if not 1 <= number <= len(spans):
        raise _DroppedError("no such sentence")
    start, end = spans[number - 1]
    source, target = (_entity(_text(one, side), chunk, start, end, resolved) for side in ("source", "target"))
    if resolved.get(source, source) == resolved.get(target, target):
        raise _DroppedError("both ends are the same")
    return RelationEdge(source, relation, target, chunk.uri, start, end)


def _entity(name: str, chunk: ChunkNode, start: int, end: int, resolved: Mapping[str, str]) -> str:
    """Return the uri of what a sentence of a chunk names: what was recognised there, or what the chunk cites, or what the
    store knows by this name, or else a new entity. Raises _DroppedError.
    """
    bare, sentence = written_name(name)[0], " ".join(chunk.body[start:end].split())
    key, titles = normalise_name(bare), (_uri(name), _uri(bare))
    for one in chunk.names:
        form = written_name(chunk.body[one.start : one.end])[0]
        if start <= one.start < one.end <= end and (form == bare or one.uri in titles):
            return one.uri
    if not key or bare not in sentence or f" {key} " not in f" {normalise_name(sentence)} ":
        raise _DroppedError("a name is not in the sentence")
    cited = {uri for uri in chunk.cites if normalise_name(without_parenthesis(unescape(uri))) == key}
    known = [resolved[title] for title in titles if title in resolved]
    if len(cited) == 1 or known:
        return cited.pop() if len(cited) == 1 else known[0]
    if len(bare) > MAX_NAME or not is_name(key) or bare.islower() or not any(map(str.isalpha, bare)):
        raise _DroppedError("not a name")
    return titles[1]


def _uri(name: str) -> str:
    return page_uri(normalise_title(name))


def _text(one: Mapping[str, Any], key: str) -> str:
    """Return a text of a reply; empty if it is none."""
    return one_line(value) if isinstance(value := one.get(key), str) else ""
