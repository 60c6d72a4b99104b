"""Step 3: an LLM judge, preferably not the model that wrote them, scores the questions."""

from __future__ import annotations

from trivium.common.progress import Progress
from trivium.llm.base import ChatModel
from trivium.synthetic.prompt import JUDGE_VERSION, ask, judge_prompt
from trivium.synthetic.records import Bridge, Judged, Outcome, Written
from trivium.synthetic.reply import SCORES_SCHEMA, Unreadable, read_scores
from trivium.synthetic.run import Run


def judge(run: Run, model: ChatModel, progress: Progress | None = None) -> None:
    """Score every question that passed the checks and has no scores yet.

    Raises InputError when nothing was generated, or earlier questions were scored by another model; ChatModelError when
    the model fails, after which the same call resumes.
    """
    run.require_started()
    bridges = {bridge.entity: bridge for bridge in run.bridges.records()}
    questions = [written for written in run.written.records() if written.outcome is Outcome.WRITTEN]
    with run.judged.writing({"model": model.name, "prompt": JUDGE_VERSION}) as append:
        done = {judged.entity for judged in run.judged.records()}
        for number, written in enumerate(questions, start=1):
            if written.entity not in done:
                append(score(bridges[written.entity], written, model))
            if progress is not None:
                progress(number, len(questions))


def score(bridge: Bridge, written: Written, model: ChatModel) -> Judged:
    """The model's scores of a question. Raises ChatModelError when the model fails."""
    sources = [source for source in bridge.sources if source.uri in written.sources]
    prompt = judge_prompt(bridge, written.question, written.answer, sources, model)
    reply = ask(prompt, model, SCORES_SCHEMA)
    scores = read_scores(reply.text)
    if isinstance(scores, Unreadable):
        return Judged(written.entity, reason=scores.reason, reply=reply.text, usage=reply.usage)
    return Judged(written.entity, scores, usage=reply.usage)
