"""Measures the recognition of spoken questions and its effect on search: word error rate and hit@1/3/5.

    trivium build trivium/sample/pages --store demo-store
    python experiments/speech/measure.py --store demo-store

Questions about the sample encyclopaedia are synthesised by the configured voice, with white noise added, and
transcribed by the configured recogniser. Gold passages are those of the typed question.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table as Grid

import trivium
from experiments import command
from trivium.datasets.questions import read_questions
from trivium.sample import folder as sample
from trivium.speech import Samples, Speech
from trivium.speech.speech import wav_file
from trivium.text.normalise import normalise_name
from trivium.types import Question

NOISES = (None, 20.0, 10.0, 5.0)
"""Signal-to-noise ratios in decibels; None for no noise."""
CUTOFFS = (1, 3, 5)


@dataclass(frozen=True)
class Heard:
    """Questions as transcribed by the recogniser."""

    questions: list[Question]
    seconds_of_audio: float
    seconds_to_hear: float


def main() -> None:
    """Run the experiment and print the results."""
    parser = command.Parser(__doc__, takes="five minutes", packages=("jiwer", "trivium[speech]"))
    parser.add_argument("--store", type=command.store, required=True)
    parser.add_argument("--questions", type=command.existing, default=sample() / "questions_single_hop.jsonl")
    parser.add_argument(
        "--count", type=int, default=30, help="Number of questions, evenly spread over the file."
    )
    given = parser.parse_args()
    every = read_questions(given.questions)
    typed = [every[round(place)] for place in np.linspace(0, len(every) - 1, given.count)]
    speech = Speech()
    voice, recogniser = speech.voice, speech.recogniser
    began = time.perf_counter()
    spoken = [np.concatenate(list(speech.spoken(question.text))) for question in typed]
    to_speak = time.perf_counter() - began
    grid = Grid("question", "word error rate", "wrong questions", *(f"hit@{k}" for k in CUTOFFS), "heard in")
    with trivium.Engine.open(given.store) as engine:
        grid.add_row("typed", "", "", *hits(engine, typed), "")
        for noise in NOISES:
            heard = hear(speech, typed, [noisy(samples, noise) for samples in spoken], voice.rate)
            errors = [error_rate([one], [other]) for one, other in zip(typed, heard.questions, strict=True)]
            grid.add_row(
                "spoken" if noise is None else f"spoken, noise {noise:g} dB below",
                f"{error_rate(typed, heard.questions):.3f}",
                str(sum(error > 0 for error in errors)),
                *hits(engine, heard.questions),
                f"{heard.seconds_to_hear / heard.seconds_of_audio:.2f} s a second",
            )
            if noise is None:
                wrong = [
                    (one.text, other.text)
                    for one, other, error in zip(typed, heard.questions, errors, strict=True)
                    if error > 0
                ]
        titles = [page.uri for page in engine.store.pages(None, 1000)]
        names = name_rows(engine, speech, titles)
    console = Console(width=160)
    console.print(grid)
    console.print(names)
    console.print(
        f"{len(typed)} questions; {voice.name} spoke {heard.seconds_of_audio:.0f} s in {to_speak:.1f} s,"
        f" {recogniser.name} heard them; without noise it mistook:"
    )
    for one, other in wrong:
        console.print(f"  {one}\n    {other}", soft_wrap=True)


def name_rows(engine: trivium.Engine, speech: Speech, titles: Sequence[str]) -> Grid:
    """Measure questions that depend on one name: "What is known about Asaph Hall?" for each page."""
    typed = [Question(title, f"What is known about {title}?") for title in titles]
    spoken = [np.concatenate(list(speech.spoken(question.text))) for question in typed]
    heard = hear(speech, typed, spoken, speech.voice.rate)
    grid = Grid(f"names ({len(titles)})", "heard as they are", "page first", "page in five")
    for label, questions in (("typed", typed), ("spoken", heard.questions)):
        right = [
            normalise_name(one.id) in normalise_name(other.text)
            for one, other in zip(typed, questions, strict=True)
        ]
        found = [[hit.page for hit in engine.search(question.text, 5)] for question in questions]
        places = [[page == one.id for page in pages] for one, pages in zip(typed, found, strict=True)]
        grid.add_row(
            label,
            f"{np.mean(right):.3f}",
            f"{np.mean([place[0] for place in places]):.3f}",
            f"{np.mean([any(place) for place in places]):.3f}",
        )
    return grid


def noisy(samples: Samples, decibels: float | None) -> Samples:
    """Return the samples with white noise at that signal-to-noise ratio, deterministically."""
    if decibels is None:
        return samples
    power = float(np.mean(samples.astype(np.float64) ** 2)) / 10 ** (decibels / 10)
    noise = np.random.default_rng(0).normal(0.0, np.sqrt(power), len(samples))
    return np.clip(samples + noise, -32768, 32767).astype(np.int16)


def hear(speech: Speech, typed: Sequence[Question], spoken: Sequence[Samples], rate: int) -> Heard:
    """Return the questions with their transcriptions as texts."""
    heard, taken, lasted = [], 0.0, 0.0
    for question, samples in track(list(zip(typed, spoken, strict=True)), "hearing", transient=True):
        file = wav_file([samples], rate)
        began = time.perf_counter()
        said = speech.transcribe(file)
        taken += time.perf_counter() - began
        lasted += len(samples) / rate
        heard.append(replace(question, text=said.text or "?"))
    return Heard(heard, lasted, taken)


def error_rate(typed: Sequence[Question], heard: Sequence[Question]) -> float:
    """Return the word error rate (substitutions, deletions and insertions per spoken word), ignoring case and
    punctuation.
    """
    import jiwer

    texts = [[normalise_name(question.text) for question in questions] for questions in (typed, heard)]
    return float(jiwer.wer(*texts))


def hits(engine: trivium.Engine, questions: Sequence[Question]) -> list[str]:
    """Return hit@k of the store's fusion, formatted for the table."""
    means = engine.evaluate(questions, fusions=["default"]).rows["default"].means
    return [f"{means[f'hit@{k}']:.3f}" for k in CUTOFFS]


if __name__ == "__main__":
    command.run(main)
