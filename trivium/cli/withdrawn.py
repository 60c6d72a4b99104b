"""Options that are gone. For one release they are ignored with a warning, so that old scripts go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trivium.cli.terminal import err, shown

WITHDRAWN: Mapping[str, Mapping[str, int]] = {
    "build": {"--shards": 1, "--shard-size": 1},
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
