"""Step 3: score the questions with a language model, preferably not the one that wrote them."""

from __future__ import annotations

from trivium.answering.passage_prompts import ask
from trivium.common.progress import Progress
from trivium.llm.chat_model import ChatModel
from trivium.synthetic.prompt import judge_prompt, judge_version
from trivium.synthetic.read_replies import Unreadable, read_scores, scores_schema
from trivium.synthetic.records import Bridge, Judged, Outcome, Written, criteria_of
from trivium.synthetic.run_folder import Run


def judge(run: Run, model: ChatModel, progress: Progress | None = None, own: str | None = None) -> None:
    """Score every question that passed the checks and has no scores yet: by four criteria. ``own`` instructions say what
    is judged in place of ours.

    Raises InputError when nothing was generated, or earlier questions were scored by another model or method;
    ChatModelError when the model fails, after which the same call resumes.
    """
    run.require_started()
    bridges = {bridge.entity: bridge for bridge in run.bridges.records()}
    questions = [written for written in run.written.records() if written.outcome is Outcome.WRITTEN]
    plain = any(bridge.plain for bridge in bridges.values())
    settings = {"model": model.name, "prompt": judge_version(plain, own)}
    with run.judged.writing(settings) as append:
        done = {judged.entity for judged in run.judged.records()}
        for number, written in enumerate(questions, start=1):
            if written.entity not in done:
                append(score(bridges[written.entity], written, model, own))
            if progress is not None:
                progress(number, len(questions))


def score(bridge: Bridge, written: Written, model: ChatModel, own: str | None = None) -> Judged:
    """Return the model's scores of a question. Raises ChatModelError when the model fails."""
    sources = [source for source in bridge.sources if source.uri in written.sources]
    criteria = criteria_of(bridge.plain)
    prompt = judge_prompt(bridge, written.question, written.answer, sources, model, own)
    reply = ask(prompt, model, scores_schema(criteria))
    scores = read_scores(reply.text, criteria)
    if isinstance(scores, Unreadable):
        return Judged(written.entity, reason=scores.reason, reply=reply.text, usage=reply.usage)
    return Judged(written.entity, scores, usage=reply.usage)
