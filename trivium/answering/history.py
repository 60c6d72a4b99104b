"""Conversation files: JSON Lines of questions and answers, oldest first."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from trivium.errors import InputError
from trivium.types import Turn


def read_history(file: Path) -> list[Turn]:
    """Read the turns of a conversation; empty if the file does not exist. Raises InputError with the offending line."""
    if not file.exists():
        return []
    turns = []
    for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
        try:
            row = json.loads(line)
            question, answer = row["question"], row["answer"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError(f"{file}, line {number}: expected an object with question and answer") from error
        if not isinstance(question, str) or not isinstance(answer, str):
            raise InputError(f"{file}, line {number}: expected question and answer as text")
        turns.append(Turn(question, answer))
    return turns


def append_turn(file: Path, turn: Turn) -> None:
    """Append a turn to the file, creating it if necessary."""
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(asdict(turn), ensure_ascii=False) + "\n")
