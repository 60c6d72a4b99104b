"""Options that are gone. For one release they are ignored with a warning, so that old scripts go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trivium.cli.terminal import err, shown

_OF_RETRIEVAL = {
    "--rerank": 1, "--cut": 1, "--run-in": 1, "--runs": 1, "--exact": 0, "--set": 1, "--selector": 1,
    "--annotators": 1, "--fresh": 0,
}  # fmt: skip
WITHDRAWN: Mapping[str, Mapping[str, int]] = {
    "build": {"--shards": 1, "--shard-size": 1},
    "evaluate": {"--selector": 1, "--annotators": 1},
    "evaluate answers": {**_OF_RETRIEVAL, "--chat": 1, "--seed": 1},
    "evaluate suite": {"--set": 1, "--selector": 1, "--fresh": 0},
    "sweep": {"--fresh": 0},
    "compare": {"--most": 1},
    "train": {
        "--seed": 1, "--seeds": 1, "--teacher": 1, "--prior": 1, "--sampling": 1, "--mining": 1, "--report": 0,
        "--no-report": 0,
    },
    "synthesize generate": {
        "--chat": 1, "--seed": 1, "--weights": 1, "--passages": 1, "--most-cited": 1, "--kind": 1, "--writer": 1,
        "--attempts": 1,
    },
    "synthesize plain": {"--chat": 1, "--seed": 1, "--kind": 1, "--attempts": 1},
    "synthesize judge": {"--chat": 1, "--scores": 1},
    "synthesize export": {"--seed": 1},
}  # fmt: skip
"""Command -> option -> the number of its values."""


def without_withdrawn(arguments: Sequence[str]) -> list[str]:
    """Return a command line without the options that are gone, and warn of each on stderr."""
    arguments = _with_commands(arguments)
    gone: dict[str, int] = {}
    for length in (1, 2):
        gone |= WITHDRAWN.get(" ".join(arguments[:length]), {})
    kept: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--":
            return [*kept, word, *words]
        name, equals, _ = word.partition("=")
        if name not in gone:
            kept.append(word)
            continue
        for _ in range(0 if equals else gone[name]):
            next(words, None)
        err.print(f"[yellow]{shown(name)} is gone and was ignored[/]", soft_wrap=True)
    return kept


def _with_commands(arguments: Sequence[str]) -> Sequence[str]:
    """Rewrite ``evaluate --answers`` and ``evaluate --suite FILE``, which are commands of their own."""
    if list(arguments[:1]) != ["evaluate"]:
        return arguments
    for place, word in enumerate(arguments):
        name, equals, value = word.partition("=")
        if name in ("--answers", "--suite"):
            command = name.removeprefix("--")
            err.print(f"[yellow]{name} is gone: write  trivium evaluate {command}[/]", soft_wrap=True)
            before, after = arguments[1:place], arguments[place + 1 :]
            if command == "suite":  # the file comes first
                value, after = (value, after) if equals else (next(iter(after), ""), after[1:])
                before = [value, *before]
            return ["evaluate", command, *before, *after]
    return arguments
