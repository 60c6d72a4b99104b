"""Options that are gone. For one release they are ignored with a warning, so that old scripts go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trivium.cli.terminal import err, shown

_SELECTOR = "set TRIVIUM_PATH_SELECTOR"
_CHAT = "set TRIVIUM_CHAT_TEMPERATURE and the like"
_BUILD = "trivium build  on the same store has it"
_ASK = "trivium ask  has it, also without a question"
_DEVICE = "set TRIVIUM_DEVICE"
_STATUS = "trivium synthesize status --json  tells the same"

WITHDRAWN: Mapping[str, Mapping[str, str]] = {
    "search": {
        "--questions FILE": "trivium evaluate --runs  writes runs",
        "--run-out FILE": "trivium evaluate --runs  writes runs",
        "--selector NAME": _SELECTOR,
        "--device NAME": _DEVICE,
    },
    "ask": {
        "--selector NAME": _SELECTOR,
        "--chat KEY=VALUE": _CHAT,
        "--intent NAME": "HTTP and Python have it",
        "--as-asked": "a chat has  /as-asked",
        "--listen FILE": "the web page and POST /transcribe hear questions",
        "--speak FILE": "the web page and POST /speak speak answers",
        "--no-stream": "",
    },
    "chat": {
        "--prompt NAME": _ASK,
        "--chat KEY=VALUE": _CHAT,
        "--k N": _ASK,
        "-k N": _ASK,
        "--retriever NAME": _ASK,
        "-r NAME": _ASK,
        "--fusion NAME": _ASK,
        "-f NAME": _ASK,
        "--rerank NAME": _ASK,
        "--cut RULE": _ASK,
        "--selector NAME": _SELECTOR,
        "--set KEY=VALUE": _ASK,
    },
    "build": {
        "--embed-with URL": "set TRIVIUM_EMBED_WITH, with  --embedder tei:NAME",
        "--model NAME": "set TRIVIUM_CHAT_MODEL",
        "-m NAME": "set TRIVIUM_CHAT_MODEL",
        "--verbose": "trivium stats  counts",
        "--shards FOLDER": "with  --ray  it is  --parts",
        "--shard-size N": "",
        "--annotators RULE": "Python has it",
        "--into FOLDER": "a build makes one store",
        "--parts FOLDER": "parts are kept beside the store",
        "--any-embedder": "--embedder  with its name is enough",
        "--device NAME": _DEVICE,
    },
    "add": {
        "--embed-with URL": "set TRIVIUM_EMBED_WITH",
        "--device NAME": _DEVICE,
        "--format NAME": _BUILD,
        "--language CODE": _BUILD,
        "--workers N": _BUILD,
        "--set KEY=VALUE": _BUILD,
        "--no-sentences": _BUILD,
        "--images NAME": _BUILD,
        "--model NAME": "set TRIVIUM_CHAT_MODEL",
        "-m NAME": "set TRIVIUM_CHAT_MODEL",
        "--any-embedder": _BUILD,
        "--verbose": "trivium stats  counts",
        "--questions": _BUILD,
        "--annotators RULE": "Python has it",
    },
    "embed": {
        "--embed-with URL": "set TRIVIUM_EMBED_WITH, with  --embedder tei:NAME",
        "--device NAME": _DEVICE,
        "--set KEY=VALUE": "the table [index] of trivium.toml has parameters of indexes",
        "--no-headings": _BUILD,
        "--no-sentences": _BUILD,
        "--any-embedder": "--embedder  with its name is enough",
    },
    "serve": {
        "--prompt NAME": "set TRIVIUM_PROMPT",
        "--chat KEY=VALUE": _CHAT,
        "--selector NAME": _SELECTOR,
        "--set KEY=VALUE": "the table [retrievers] of trivium.toml has them",
        "--device NAME": _DEVICE,
        "--workers N": "",
        "--queue N": "",
        "--connections N": "",
        "--connections-per-client N": "a reverse proxy limits what one address may have open",
        "--shutdown-timeout S": "",
        "--job-queue N": "",
        "--spool-limit MB": "",
        "--answer-timeout S": "an answer may take six times as long as  --timeout",
        "--trust-proxy ADDRESS": "set FORWARDED_ALLOW_IPS",
        "--audit-log FILE": "each change is a line of the log, of the logger trivium.audit",
        "--min-free MB": "",
        "--spool DIR": "XDG_STATE_HOME  moves it for a database",
        "--review RUN": "trivium synthesize review",
        "--review-keep N": "trivium synthesize review",
        "--review-threshold N": "trivium synthesize review",
    },
    "mcp": {
        "--rerank NAME": "trivium serve  has it",
        "--prompt NAME": "set TRIVIUM_PROMPT",
        "--chat KEY=VALUE": _CHAT,
        "--retriever NAME": "a call of a tool names them",
        "-r NAME": "a call of a tool names them",
        "--fusion NAME": "a call of a tool names it",
        "-f NAME": "a call of a tool names it",
        "--selector NAME": _SELECTOR,
        "--set KEY=VALUE": "the table [retrievers] of trivium.toml has them",
    },
    "evaluate": {
        "--selector VALUE": "",
        "--annotators VALUE": "",
    },
    "evaluate answers": {
        "--prompt NAME": "set TRIVIUM_PROMPT",
        "--rerank VALUE": "",
        "--cut VALUE": "",
        "--run-in VALUE": "",
        "--runs VALUE": "",
        "--exact": "",
        "--set VALUE": "",
        "--selector VALUE": "",
        "--annotators VALUE": "",
        "--fresh": "",
        "--chat VALUE": "",
        "--seed VALUE": "",
    },
    "evaluate suite": {
        "--set VALUE": "",
        "--selector VALUE": "",
        "--fresh": "",
    },
    "sweep": {
        "--fresh": "",
    },
    "compare": {
        "--qrels FILE": "put it beside the first run as  qrels.txt",
        "--most VALUE": "",
    },
    "leaderboard": {
        "--qrels FILE": "put it into the folder as  qrels.txt",
    },
    "list": {
        "--after TITLE": "",
    },
    "explore": {
        "--no-open": "--json  opens nothing",
    },
    "questions": {
        "--annotators RULE": "Python has it",
        "--seed N": "",
    },
    "warm-up": {
        "--json": "",
    },
    "models install": {
        "--json": "",
    },
    "train": {
        "--epochs N": "Python has it",
        "--seed VALUE": "",
        "--seeds VALUE": "",
        "--teacher VALUE": "",
        "--prior VALUE": "",
        "--sampling VALUE": "",
        "--mining VALUE": "",
        "--report": "",
        "--no-report": "",
    },
    "synthesize generate": {
        "--json": _STATUS,
        "--chat VALUE": "",
        "--seed VALUE": "",
        "--weights VALUE": "",
        "--passages VALUE": "",
        "--most-cited VALUE": "",
        "--kind VALUE": "",
        "--writer VALUE": "",
        "--attempts VALUE": "",
    },
    "synthesize plain": {
        "--json": _STATUS,
        "--each N": "two are asked for",
        "--chat VALUE": "",
        "--seed VALUE": "",
        "--kind VALUE": "",
        "--attempts VALUE": "",
    },
    "synthesize judge": {
        "--json": _STATUS,
        "--chat VALUE": "",
        "--scores VALUE": "",
    },
    "synthesize review": {
        "--threshold N": "",
    },
    "synthesize export": {
        "--typos SHARE": "",
        "--seed VALUE": "",
    },
}
"""Command -> option, followed by a word if it takes a value -> what is done instead."""


def without_withdrawn(arguments: Sequence[str]) -> list[str]:
    """Return a command line without the options that are gone, and warn of each on stderr."""
    arguments = _with_commands(arguments)
    gone: dict[str, tuple[bool, str]] = {}
    for length in (1, 2):
        for usage, instead in WITHDRAWN.get(" ".join(arguments[:length]), {}).items():
            option, _, value = usage.partition(" ")
            gone[option] = bool(value), instead
    kept: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--":
            return [*kept, word, *words]
        name, equals, _ = word.partition("=")
        if name not in gone:
            kept.append(word)
            continue
        takes_value, instead = gone[name]
        if takes_value and not equals:
            next(words, None)
        more = f": {instead}" if instead else ""
        err.print(f"[yellow]{shown(name)} is gone and was ignored{shown(more)}[/]", soft_wrap=True)
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
