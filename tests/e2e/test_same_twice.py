"""The same question on the same store gives the same numbers, to the last bit, in every process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

QUESTIONS = 20
THREADS = (None, "1", "2", "4")
"""Of the BLAS, a process each; None leaves it to the library."""
ASK = """
import json, sys
from trivium import Engine
from trivium.datasets.questions import read_questions
from pathlib import Path

store, questions, count = sys.argv[1:]
found = []
with Engine.open(store) as engine:
    for question in read_questions(Path(questions))[: int(count)]:
        hits = engine.search(question.text, k=5, explain=True)
        hits += engine.search(question.text, k=5, fusion="convex")
        found.append([
            [hit.uri, hit.score.hex(), hit.baseline.hex(), [value.hex() for value in hit.contributions.values()]]
            for hit in hits
        ])
json.dump(found, sys.stdout)
"""


@pytest.mark.slow
def test_processes_with_different_threads_at_once_find_the_same(sample_store: Path) -> None:
    """Twenty questions, four processes that compete for the processor: scores, baselines and every contribution."""
    questions = Path(__file__).parents[2] / "trivium" / "sample" / "questions_two_hop.jsonl"
    asking = []
    for threads in THREADS:
        environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
        if threads is not None:
            environment |= {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
        command = [sys.executable, "-c", ASK, str(sample_store), str(questions), str(QUESTIONS)]
        asking.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True))
    first, *others = [process.communicate(timeout=300)[0] for process in asking]
    assert [process.returncode for process in asking] == [0] * len(THREADS)
    assert len(json.loads(first)) == QUESTIONS and all(json.loads(first))
    for threads, other in zip(THREADS[1:], others, strict=True):
        assert other == first, f"{threads} threads of the BLAS give other numbers than it takes by itself"
