"""Plain questions: each about one passage, with the answer and the sentence that supports it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice

import numpy as np

from trivium.answering.passage_prompts import Source, ask
from trivium.common.progress import Progress
from trivium.datasets.match_text import PageTexts
from trivium.errors import InputError
from trivium.graph.protocols import GraphStore
from trivium.graph.schema import Hop
from trivium.llm.chat_model import ChatModel
from trivium.synthetic.checks import AskedQuestions, Check, check_plain_wording
from trivium.synthetic.generate import content_of
from trivium.synthetic.prompt import plain_prompt, plain_version
from trivium.synthetic.read_replies import PlainDraft, Unreadable, plain_schema, read_plain
from trivium.synthetic.records import Bridge, Outcome, Written
from trivium.synthetic.run_folder import Run, Settings
from trivium.text.normalise import sentences
from trivium.types import ChunkKind, Usage

EACH = 2
"""Number of questions that are asked about a passage."""
TEMPERATURES = (None, 0.7)
"""Temperatures of a request and its repetitions, until every question passes; the first is the model's own."""
_LEAST_TOKENS = 20
_BATCH = 32
"""Number of pages whose chunks are fetched together."""


@dataclass(frozen=True, slots=True)
class PlainSampling:
    """Which passages are asked about.

    Up to ``chunks`` paragraphs are drawn with ``seed``, spread over documents: one of each page in random order, then a
    second one, and so on, so that long pages do not dominate. Raises InputError for values out of range.
    """

    chunks: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        if self.chunks < 1 or self.seed < 0:
            raise InputError(
                f"expected at least 1 chunk and a seed of 0 or more, got {self.chunks} and {self.seed}"
            )


def draw_passages(store: GraphStore, sampling: PlainSampling) -> list[Source]:
    """Draw passages in random order; fewer than ``sampling.chunks`` if the store has no more. Drawing more keeps the
    first ones. Raises InputError when there is none.
    """
    drawn = list(islice(_drawn(store, sampling), sampling.chunks))
    if not drawn:
        raise InputError(f"the store has no paragraph of {_LEAST_TOKENS} tokens or more: add documents")
    return drawn


def generate_plain(
    run: Run,
    store: GraphStore,
    model: ChatModel,
    sampling: PlainSampling | None = None,
    progress: Progress | None = None,
    own: str | None = None,
) -> None:
    """Draw passages, and generate questions about each that has none yet. ``own`` instructions replace those of the
    writer.

    A run is continued as in :func:`trivium.synthetic.generate.generate`, which raises the same errors. ``progress``
    counts passages.
    """
    sampling = PlainSampling() if sampling is None else sampling
    slots = _slots(run, store, sampling)
    with run.written.writing({"model": model.name, "prompt": plain_version(own)}) as append:
        earlier = run.written.records()
        done = {record.entity for record in earlier}
        asked = AskedQuestions(
            (record.question, record.answer) for record in earlier if record.outcome is Outcome.WRITTEN
        )
        passages = [slots[start : start + EACH] for start in range(0, len(slots), EACH)]
        for number, places in enumerate(passages, start=1):
            waiting = [place for place in places if place.entity not in done]
            if waiting:
                for written in write_plain(waiting, model, asked, own):
                    append(written)
            if progress is not None:
                progress(number, len(passages))


def write_plain(
    places: list[Bridge], model: ChatModel, asked: AskedQuestions, own: str | None = None
) -> list[Written]:
    """Generate a question for each slot of one passage, and check them. Questions that pass are added to ``asked``.
    Raises ChatModelError when the model fails.
    """
    source = places[0].sources[0]
    passed: list[tuple[PlainDraft, str]] = []
    failed: list[tuple[PlainDraft, list[Check], str]] = []
    unreadable, usage = Unreadable("no question"), Usage()
    declined = True
    for temperature in TEMPERATURES:
        missing = len(places) - len(passed)
        if missing == 0:
            break
        prompt = plain_prompt(source, missing, [draft.question for draft, _ in passed], model, own)
        reply = ask(prompt, model, plain_schema(missing), temperature)
        usage += reply.usage
        drafts = read_plain(reply.text)
        if isinstance(drafts, Unreadable):
            cut = f", cut off at {prompt.max_tokens:,} tokens" if reply.truncated else ""
            unreadable, declined = Unreadable(f"{drafts.reason}{cut}"), False
            continue
        declined = declined and not drafts
        for draft in drafts[:missing]:
            checks, quote = checked_plain(draft, source)
            if asked.has(draft.question, draft.answer):
                checks.append(Check.REPEATED)
            if checks:
                failed.append((draft, checks, quote))
            else:
                asked.add(draft.question, draft.answer)
                passed.append((draft, quote))
    return list(_written(places, passed, failed, unreadable, usage, declined=declined))


def checked_plain(draft: PlainDraft, source: Source) -> tuple[list[Check], str]:
    """Return the checks that a question fails, and the sentence of its passage that supports the answer: the one named
    by the model if it contains the answer, else the first that does, else an empty string.
    """
    spans = [source.text[start:end] for start, end in sentences(source.text)]
    holding = PageTexts(spans).containing([draft.answer])
    named = draft.sentence - 1
    quote = spans[named] if named in holding else spans[holding[0]] if holding else ""
    checks = check_plain_wording(draft.question, draft.answer, [source])
    if not quote and Check.ANSWER_ABSENT not in checks:
        checks.append(Check.ANSWER_ABSENT)  # a heading alone does not support an answer
    return checks, quote


def _written(
    places: list[Bridge],
    passed: list[tuple[PlainDraft, str]],
    failed: list[tuple[PlainDraft, list[Check], str]],
    unreadable: Unreadable,
    usage: Usage,
    *,
    declined: bool,
) -> Iterator[Written]:
    """Yield a record for each slot. The usage of the replies is counted with the first one."""
    uris = (places[0].sources[0].uri,)
    for number, place in enumerate(places):
        took = usage if number == 0 else Usage()
        if number < len(passed):
            draft, quote = passed[number]
            yield Written(
                place.entity, Outcome.WRITTEN, draft.question, draft.answer, uris, usage=took, quote=quote
            )
        elif number - len(passed) < len(failed):
            draft, checks, quote = failed[number - len(passed)]
            yield Written(
                place.entity,
                Outcome.FAILED,
                draft.question,
                draft.answer,
                uris,
                tuple(checks),
                usage=took,
                quote=quote,
            )
        elif declined or passed or failed:
            yield Written(
                place.entity, Outcome.DECLINED, reason="fewer questions than were asked for", usage=took
            )
        else:
            yield Written(place.entity, Outcome.MALFORMED, reason=unreadable.reason, usage=took)


def _slots(run: Run, store: GraphStore, sampling: PlainSampling) -> list[Bridge]:
    """Return a slot for each question, passage by passage. They are logged, so that later steps do not need the store."""
    settings: Settings = {"store": content_of(store), "questions": "plain", "seed": sampling.seed}

    def slots() -> list[Bridge]:
        return [
            Bridge(f"{source.uri}?{number}", 0, (), (source,))
            for source in draw_passages(store, sampling)
            for number in range(1, EACH + 1)
        ]

    return run.drawn(settings, sampling.chunks * EACH, slots)


def _drawn(store: GraphStore, sampling: PlainSampling) -> Iterator[Source]:
    pages = sorted(page.uri for page in store.pages())
    order = [pages[place] for place in np.random.default_rng(sampling.seed).permutation(len(pages)).tolist()]
    found: dict[str, list[Source]] = {}
    for turn in count():
        left = False
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            found.update(_of_pages(store, [page for page in batch if page not in found], sampling))
            for page in batch:
                if turn < len(found[page]):
                    left = True
                    yield found[page][turn]
        if not left:
            return


def _of_pages(store: GraphStore, pages: list[str], sampling: PlainSampling) -> dict[str, list[Source]]:
    """Return the eligible chunks of pages, in random order. Each page has its own random generator."""
    below = store.expand(pages, Hop.BELOW)
    records = {
        record.uri: record
        for record in store.fetch(list(dict.fromkeys(uri for page in pages for uri in below[page])))
    }
    found = {}
    for page in pages:
        suitable = [
            Source(record.uri, record.page, record.section, record.text)
            for record in (records[uri] for uri in sorted(below[page]))
            if record.kind == ChunkKind.PARAGRAPH and record.token_count >= _LEAST_TOKENS
        ]
        page_seed = int.from_bytes(hashlib.sha256(page.encode()).digest()[:8])
        order = np.random.default_rng([sampling.seed, page_seed]).permutation(len(suitable)).tolist()
        found[page] = [suitable[place] for place in order]
    return found
