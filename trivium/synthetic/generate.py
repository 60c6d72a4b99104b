"""The first two steps: bridges are drawn, and a model writes a question around each."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict

from trivium.common.progress import Progress
from trivium.errors import InputError
from trivium.graph.protocols import GraphStore, PageReader
from trivium.llm.base import ChatModel
from trivium.synthetic.checks import Asked, Check, check_numbers, check_wording
from trivium.synthetic.log import Settings
from trivium.synthetic.prompt import WRITE_VERSION, ask, write_prompt
from trivium.synthetic.records import Bridge, Outcome, Source, Written
from trivium.synthetic.reply import DRAFT_SCHEMA, Declined, Draft, Unreadable, read_draft
from trivium.synthetic.run import Run
from trivium.synthetic.sample import Sampling, draw
from trivium.types import Usage


def generate(
    run: Run,
    store: GraphStore,
    model: ChatModel,
    sampling: Sampling | None = None,
    progress: Progress | None = None,
) -> None:
    """Draw bridges and have a question written around each that has none yet: every reply is kept, whatever it is worth.

    Going on needs the same store contents (in whichever home), sampling and model; only the number of entities may
    change. Raises InputError otherwise, and where the store has no bridges; ChatModelError when the model fails, after
    which the same call goes on.
    """
    bridges = _bridges(run, store, Sampling() if sampling is None else sampling)
    with run.written.writing({"model": model.name, "prompt": WRITE_VERSION}) as append:
        known = run.written.records()
        done = {one.entity for one in known}
        asked = Asked(one.question for one in known if one.outcome is Outcome.WRITTEN)
        for number, bridge in enumerate(bridges, start=1):
            if bridge.entity not in done:
                written = write(bridge, model, asked)
                append(written)
                if written.outcome is Outcome.WRITTEN:
                    asked.add(written.question)
            if progress is not None:
                progress(number, len(bridges))


def write(bridge: Bridge, model: ChatModel, asked: Asked) -> Written:
    """What the model makes of a bridge. Raises ChatModelError."""
    prompt = write_prompt(bridge, model)
    said = ask(prompt, model, DRAFT_SCHEMA)
    read = read_draft(said.text)
    if isinstance(read, Unreadable):
        reason = f"{read.reason}, cut off at {prompt.max_tokens:,} tokens" if said.cut else read.reason
        return Written(bridge.entity, Outcome.MALFORMED, reason=reason, reply=said.text, usage=said.usage)
    if isinstance(read, Declined):
        return Written(bridge.entity, Outcome.DECLINED, reason=read.reason, usage=said.usage)
    return _checked(read, bridge, prompt.shown, asked, said.usage)


def _checked(draft: Draft, bridge: Bridge, shown: tuple[Source, ...], asked: Asked, usage: Usage) -> Written:
    used = [shown[number - 1] for number in draft.numbers if 1 <= number <= len(shown)]
    failed: list[Check] = check_numbers(draft.numbers, len(shown))
    failed += check_wording(draft.question, draft.answer, bridge, used)
    if asked.has(draft.question):
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


def _bridges(run: Run, store: GraphStore, sampling: Sampling) -> list[Bridge]:
    """The drawn bridges, kept so that what follows needs no store."""
    with run.bridges.writing(_settings(store, sampling)) as append:
        known = run.bridges.records()
        if len(known) < sampling.entities:
            drawn = draw(store, sampling)
            if known != drawn[: len(known)]:
                raise InputError(
                    f"{run.bridges.path}: the store gives other bridges than before: begin in another folder"
                )
            for bridge in drawn[len(known) :]:
                append(bridge)
            known = drawn
        return known[: sampling.entities]


def _settings(store: PageReader, sampling: Sampling) -> Settings:
    """All that the bridges hang on; how many of them is no part of it."""
    digest = hashlib.sha256()
    for uri, _, _, version in store.pages():
        digest.update(json.dumps([uri, version]).encode())
    digest.update(json.dumps(store.info().aliases).encode())
    own = {
        name: list(value) if isinstance(value, tuple) else value for name, value in asdict(sampling).items()
    }
    del own["entities"]
    return {"store": digest.hexdigest()[:16], **own}
