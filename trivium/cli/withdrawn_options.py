"""Options that are gone. For one release they are ignored with a warning, so that old scripts go on."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.cli.terminal import err, shown

WITHDRAWN = {
    "search": "--questions= --run-out= --selector= --device=",
    "ask": "--selector= --chat= --intent= --as-asked --listen= --speak= --no-stream",
    "chat": "--selector= --chat= --prompt= --k= -k= --retriever= -r= --fusion= -f= --rerank= --cut= --set=",
    "serve": (
        "--selector= --device= --chat= --workers= --queue= --connections= --shutdown-timeout= --job-queue= "
        "--spool-limit= --min-free= --prompt= --set= --connections-per-client= --answer-timeout= "
        "--trust-proxy= --audit-log= --spool= --review= --review-keep= --review-threshold="
    ),
    "mcp": "--selector= --chat= --prompt= --set= --rerank= --retriever= -r= --fusion= -f=",
    "build": (
        "--device= --shard-size= --embed-with= --model= -m= --verbose --shards= --parts= --annotators= "
        "--into= --watch --any-embedder"
    ),
    "add": (
        "--device= --model= -m= --verbose --annotators= --embed-with= --format= --language= --workers= "
        "--set= --images= --any-embedder --questions --no-sentences"
    ),
    "embed": "--device= --embed-with= --any-embedder --no-sentences --no-headings --set=",
    "evaluate": "--selector= --annotators=",
    "evaluate answers": (
        "--selector= --annotators= --rerank= --cut= --run-in= --runs= --exact --set= --fresh --chat= "
        "--seed= --prompt="
    ),
    "sweep": "--fresh",
    "synthesize generate": (
        "--chat= --seed= --weights= --passages= --most-cited= --kind= --writer= --attempts= --json"
    ),
    "synthesize plain": "--chat= --seed= --kind= --attempts= --json --each=",
    "synthesize judge": "--chat= --scores= --json",
    "train": "--seed= --seeds= --teacher= --prior= --sampling= --mining= --report --no-report --epochs=",
    "synthesize export": "--seed= --typos=",
    "compare": "--most= --qrels=",
    "list": "--after=",
    "models install": "--json",
    "synthesize review": "--threshold=",
    "leaderboard": "--qrels=",
    "explore": "--no-open",
}
"""The options that a command had; those that end with ``=`` took a value. CHANGELOG.md says what is done instead."""


def without_withdrawn(arguments: Sequence[str]) -> list[str]:
    """Return a command line without the options that are gone, and warn of each on stderr."""
    arguments = _with_commands(arguments)
    gone = {option for length in (1, 2) for option in WITHDRAWN.get(" ".join(arguments[:length]), "").split()}
    kept: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--":
            return [*kept, word, *words]
        name, equals, _ = word.partition("=")
        if name not in gone and f"{name}=" not in gone:
            kept.append(word)
            continue
        if f"{name}=" in gone and not equals:
            next(words, None)
        err.print(f"[yellow]{shown(name)} is gone and was ignored[/]", soft_wrap=True)
    return kept


def _with_commands(arguments: Sequence[str]) -> Sequence[str]:
    """Rewrite ``evaluate --answers``, which is a command of its own, and end ``warm-up``, of which nothing is left to do,
    and ``evaluate suite``."""
    if list(arguments[:1]) == ["warm-up"]:
        err.print("[yellow]warm-up is gone: nothing is compiled at the first search any more[/]")
        raise SystemExit(0)
    if list(arguments[:1]) == ["evaluate"]:
        if arguments[1:2] == ["suite"] or any(word.partition("=")[0] == "--suite" for word in arguments):
            err.print("[yellow]evaluate suite is gone: write  trivium evaluate  for each of its sets[/]")
            raise SystemExit(2)
        if "--answers" in arguments:
            place = arguments.index("--answers")
            err.print("[yellow]--answers is gone: write  trivium evaluate answers[/]", soft_wrap=True)
            return ["evaluate", "answers", *arguments[1:place], *arguments[place + 1 :]]
    return arguments
