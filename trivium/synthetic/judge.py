"""The third step: a model, preferably another one, scores the questions."""

from __future__ import annotations

from trivium.common.progress import Progress
from trivium.llm.base import ChatModel
from trivium.synthetic.prompt import JUDGE_VERSION, ask, judge_prompt
from trivium.synthetic.records import Bridge, Judged, Outcome, Written
from trivium.synthetic.reply import SCORES_SCHEMA, Unreadable, read_scores
from trivium.synthetic.run import Run


def judge(run: Run, model: ChatModel, progress: Progress | None = None) -> None:
    """Have every question scored that passed the checks and has no scores yet.

    Raises InputError where nothing was generated, or others were judged by another model; ChatModelError when the model
    fails, after which the same call goes on.
    """
    run.begun()
    bridges = {bridge.entity: bridge for bridge in run.bridges.records()}
    questions = [one for one in run.written.records() if one.outcome is Outcome.WRITTEN]
    with run.judged.writing({"model": model.name, "prompt": JUDGE_VERSION}) as append:
        done = {one.entity for one in run.judged.records()}
        for number, written in enumerate(questions, start=1):
            if written.entity not in done:
                append(score(bridges[written.entity], written, model))
            if progress is not None:
                progress(number, len(questions))


def score(bridge: Bridge, written: Written, model: ChatModel) -> Judged:
    """What the model thinks of a question. Raises ChatModelError."""
    sources = [source for source in bridge.sources if source.uri in written.sources]
    prompt = judge_prompt(bridge, written.question, written.answer, sources, model)
    said = ask(prompt, model, SCORES_SCHEMA)
    scores = read_scores(said.text)
    if isinstance(scores, Unreadable):
        return Judged(written.entity, reason=scores.reason, reply=said.text, usage=said.usage)
    return Judged(written.entity, scores, usage=said.usage)
