"""A conversation in the terminal: each question is answered in the context of the earlier ones, and commands control
it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from trivium.cli.print_hits import print_details, print_legend, print_reasons
from trivium.cli.terminal import err, shown
from trivium.errors import InputError, TriviumError
from trivium.types import Answer, Hit, Turn

HELP = """\
/new          begin a new conversation
/as-asked     search for the last question again, just as it was asked
/where COND   answer only from passages that match COND; without COND from all
/why          the passages of the last answer, one line each, with the reasons
/why N        the passage [N] in full, and what each retriever added
/help         this list
/quit         end the conversation (an empty line does too)"""


@dataclass(slots=True)
class Conversation:
    """A conversation. ``answer(question, history, where, rewrite)`` answers one question and prints it;
    ``explained(answer, where)`` returns its passages with explanations. Turns are appended to the file ``history``.
    """

    answer: Callable[[str, Sequence[Turn], str | None, bool], Answer]
    explained: Callable[[Answer, str | None], Sequence[Hit]]
    where: str | None = None
    history: Path | None = None
    turns: list[Turn] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    answered_where: str | None = None
    """Condition under which the last question was answered."""

    def run(self, lines: Iterator[str]) -> None:
        """Answer each line until one ends the conversation. If a question fails, the error is printed and the next line
        is read.
        """
        for line in lines:
            said = line.strip()
            if said in ("", "/quit", "/exit", "quit", "exit"):
                return
            try:
                if said.startswith("/"):
                    self._obey(said)
                else:
                    self._ask(said, rewrite=True)
            except TriviumError as error:
                err.print(f"[red]error:[/] {shown(str(error))}", soft_wrap=True)

    def _ask(self, question: str, *, rewrite: bool) -> None:
        answer = self.answer(question, self.turns, self.where, rewrite)
        self.answers.append(answer)
        self.answered_where = self.where
        self.turns.append(Turn(question, answer.text))
        if self.history is not None:
            append_turn(self.history, self.turns[-1])

    def _obey(self, line: str) -> None:
        command, _, rest = line.partition(" ")
        rest = rest.strip()
        match command:
            case "/new":
                self.turns.clear()
                self.answers.clear()
                err.print("[dim]a new conversation[/]")
            case "/as-asked" if self.turns:
                question = self.turns.pop().question
                self.answers.pop()
                self._ask(question, rewrite=False)
            case "/where":
                self.where = rest or None
                err.print(f"[dim]{shown(f'only where {rest}') if rest else 'from all passages'}[/]")
            case "/why" if self.answers:
                self._explain(self.answers[-1], rest)
            case "/help":
                err.print(shown(HELP))
            case "/as-asked" | "/why":
                err.print("[dim]nothing has been asked yet[/]")
            case _:
                err.print(f"[red]error:[/] unknown command {shown(command)}; there are:", soft_wrap=True)
                err.print(shown(HELP))

    def _explain(self, answer: Answer, number: str) -> None:
        """Print one line for each passage of an answer, or one passage in full."""
        hits = self.explained(answer, self.answered_where)
        chosen = [hit for hit in hits if str(hit.rank) == number]
        if not hits:
            err.print("[dim]the last answer was given without a search[/]")
        elif chosen:
            print_details(chosen[0], hits)
        elif number:
            err.print(f"[red]error:[/] expected a number from 1 to {len(hits)}, got {shown(number)}")
        else:
            print_reasons(answer.searched_for or answer.question, hits)
            print_legend(hits)


def typed_lines() -> Iterator[str]:
    """Yield lines typed at the terminal, or the lines of standard input if it is not a terminal."""
    if not sys.stdin.isatty():
        yield from sys.stdin
        return
    err.print("[dim]Ask; /help lists commands, an empty line ends the conversation.[/]")
    while True:
        try:
            yield err.input("[bold]> [/]")
        except EOFError:
            return


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
