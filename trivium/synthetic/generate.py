"""Steps 1 and 2: sample bridge entities, and generate a question about each."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict

from trivium.answering.passage_prompts import Source, ask
from trivium.common.progress import Progress
from trivium.graph.protocols import GraphStore, PageReader
from trivium.llm.chat_model import ChatModel
from trivium.synthetic.checks import AskedQuestions, Check, check_numbers, check_wording
from trivium.synthetic.prompt import write_prompt, write_version
from trivium.synthetic.read_replies import DRAFT_SCHEMA, Declined, Draft, Unreadable, read_draft
from trivium.synthetic.records import Bridge, Outcome, Written
from trivium.synthetic.run_folder import Run, Settings
from trivium.synthetic.sample_bridges import Sampling, draw
from trivium.types import Usage


def generate(
    run: Run,
    store: GraphStore,
    model: ChatModel,
    sampling: Sampling | None = None,
    progress: Progress | None = None,
    own: str | None = None,
) -> None:
    """Sample bridges, and generate a question about each that has none yet. All results are logged. ``own`` instructions
    replace those of the writer.

    A run can be continued with the same store contents (in any backend), sampling and model; only the number of
    entities may change. Raises InputError otherwise, and when the store has no bridges; ChatModelError when the model
    fails, after which the same call resumes.
    """
    sampling = Sampling() if sampling is None else sampling
    bridges = run.drawn(_settings(store, sampling), sampling.entities, lambda: draw(store, sampling))
    settings: dict[str, str | int | list[str]] = {"model": model.name, "prompt": write_version(own)}
    with run.written.writing(settings) as append:
        earlier = run.written.records()
        done = {record.entity for record in earlier}
        asked = AskedQuestions(
            (record.question, record.answer) for record in earlier if record.outcome is Outcome.WRITTEN
        )
        for number, bridge in enumerate(bridges, start=1):
            if bridge.entity not in done:
                written = write(bridge, model, asked, own)
                append(written)
                if written.outcome is Outcome.WRITTEN:
                    asked.add(written.question, written.answer)
            if progress is not None:
                progress(number, len(bridges))


def write(bridge: Bridge, model: ChatModel, asked: AskedQuestions, own: str | None = None) -> Written:
    """Generate a question about a bridge and check it. Raises ChatModelError when the model fails."""
    prompt = write_prompt(bridge, model, own)
    reply = ask(prompt, model, DRAFT_SCHEMA)
    draft = read_draft(reply.text)
    if isinstance(draft, Unreadable):
        reason = (
            f"{draft.reason}, cut off at {prompt.max_tokens:,} tokens" if reply.truncated else draft.reason
        )
        return Written(bridge.entity, Outcome.MALFORMED, reason=reason, reply=reply.text, usage=reply.usage)
    if isinstance(draft, Declined):
        return Written(bridge.entity, Outcome.DECLINED, reason=draft.reason, usage=reply.usage)
    return _checked(draft, bridge, prompt.shown, asked, reply.usage)


def _checked(
    draft: Draft, bridge: Bridge, shown: tuple[Source, ...], asked: AskedQuestions, usage: Usage
) -> Written:
    used = [shown[number - 1] for number in draft.numbers if 1 <= number <= len(shown)]
    failed: list[Check] = check_numbers(draft.numbers, len(shown))
    failed += check_wording(draft.question, draft.answer, bridge, used)
    if asked.has(draft.question, draft.answer):
        failed.append(Check.REPEATED)
    return Written(
        bridge.entity,
        Outcome.FAILED if failed else Outcome.WRITTEN,
        draft.question,
        draft.answer,
        tuple(source.uri for source in used),
        tuple(failed),
        usage=usage,
    )


def content_of(store: PageReader) -> str:
    """Return a hash of a store's contents, which is the same for a copy of it."""
    digest = hashlib.sha256()
    for page in store.pages():
        digest.update(json.dumps([page.uri, page.content_hash]).encode())
    digest.update(json.dumps(store.info().aliases).encode())
    return digest.hexdigest()[:16]


def _settings(store: PageReader, sampling: Sampling) -> Settings:
    """Return everything that determines the bridges, except their number."""
    options = {
        name: list(value) if isinstance(value, tuple) else value for name, value in asdict(sampling).items()
    }
    del options["entities"]
    return {"store": content_of(store), **options}
