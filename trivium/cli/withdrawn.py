"""Options that are gone. For one release they are ignored with a warning, so that old scripts go on."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.cli.terminal import err, shown

_GONE = (
    ("search", "--questions FILE, --run-out FILE", "trivium evaluate --runs  writes runs"),
    ("search, ask, chat, serve, mcp", "--selector NAME", "set TRIVIUM_PATH_SELECTOR"),
    ("search, build, add, embed, serve", "--device NAME", "set TRIVIUM_DEVICE"),
    ("ask, chat, serve, mcp", "--chat KEY=VALUE", "set TRIVIUM_CHAT_TEMPERATURE and the like"),
    ("ask", "--intent NAME", "HTTP and Python have it"),
    ("ask", "--as-asked", "a chat has  /as-asked"),
    ("ask", "--listen FILE", "the web page and POST /transcribe hear questions"),
    ("ask", "--speak FILE", "the web page and POST /speak speak answers"),
    ("ask", "--no-stream", ""),
    ("build", "--shard-size N", ""),
    ("serve", "--workers N, --queue N, --connections N, --shutdown-timeout S", ""),
    ("serve", "--job-queue N, --spool-limit MB, --min-free MB", ""),
    ("evaluate", "--selector VALUE, --annotators VALUE", ""),
    (
        "evaluate answers",
        "--selector VALUE, --annotators VALUE, --rerank VALUE, --cut VALUE, --run-in VALUE, --runs VALUE",
        "",
    ),
    ("evaluate answers", "--exact, --set VALUE, --fresh, --chat VALUE, --seed VALUE", ""),
    ("evaluate suite", "--selector VALUE, --set VALUE, --fresh", ""),
    ("sweep", "--fresh", ""),
    ("synthesize generate", "--chat VALUE, --seed VALUE, --weights VALUE, --passages VALUE", ""),
    ("synthesize generate", "--most-cited VALUE, --kind VALUE, --writer VALUE, --attempts VALUE", ""),
    ("synthesize plain", "--chat VALUE, --seed VALUE, --kind VALUE, --attempts VALUE", ""),
    ("synthesize judge", "--chat VALUE, --scores VALUE", ""),
    ("train", "--seed VALUE, --seeds VALUE, --teacher VALUE, --prior VALUE", ""),
    ("train", "--sampling VALUE, --mining VALUE, --report, --no-report", ""),
    ("synthesize export", "--seed VALUE, --typos SHARE", ""),
    ("compare", "--most VALUE", ""),
    ("list", "--after TITLE", ""),
    ("warm-up", "--json", ""),
    ("models install", "--json", ""),
    ("synthesize review", "--threshold N", ""),
    (
        "chat",
        "--prompt NAME, --k N, -k N, --retriever NAME, -r NAME",
        "trivium ask  has it",
    ),
    (
        "chat",
        "--fusion NAME, -f NAME, --rerank NAME, --cut RULE, --set KEY=VALUE",
        "trivium ask  has it",
    ),
    ("build, embed", "--embed-with URL", "set TRIVIUM_EMBED_WITH, with  --embedder tei:NAME"),
    ("build, add", "--model NAME, -m NAME", "set TRIVIUM_CHAT_MODEL"),
    ("build, add", "--verbose", "trivium stats  counts"),
    ("build", "--shards FOLDER, --parts FOLDER", "parts are kept beside the store"),
    ("build, add", "--annotators RULE", "Python has it"),
    ("train", "--epochs N", "Python has it"),
    ("build", "--into FOLDER", "a build makes one store"),
    ("build", "--watch", "run  trivium build --prune  again, by cron"),
    ("build, embed", "--any-embedder", "--embedder  with its name is enough"),
    ("add", "--embed-with URL", "set TRIVIUM_EMBED_WITH"),
    (
        "add",
        "--format NAME, --language CODE, --workers N, --set KEY=VALUE",
        "trivium build  on the same store has it",
    ),
    ("add", "--images NAME, --any-embedder, --questions", "trivium build  on the same store has it"),
    ("add, embed", "--no-sentences", "trivium build  on the same store has it"),
    ("embed", "--no-headings", "trivium build  on the same store has it"),
    ("embed", "--set KEY=VALUE", "the table [index] of trivium.toml has parameters of indexes"),
    ("serve, mcp, evaluate answers", "--prompt NAME", "set TRIVIUM_PROMPT"),
    ("serve, mcp", "--set KEY=VALUE", "the table [retrievers] of trivium.toml has them"),
    ("serve", "--connections-per-client N", "a reverse proxy limits what one address may have open"),
    ("serve", "--answer-timeout S", "an answer may take six times as long as  --timeout"),
    ("serve", "--trust-proxy ADDRESS", "set FORWARDED_ALLOW_IPS"),
    ("serve", "--audit-log FILE", "each change is a line of the log, of the logger trivium.audit"),
    ("serve", "--spool DIR", "XDG_STATE_HOME  moves it for a database"),
    ("serve", "--review RUN, --review-keep N, --review-threshold N", "trivium synthesize review"),
    ("mcp", "--rerank NAME", "trivium serve  has it"),
    ("mcp", "--retriever NAME, -r NAME", "a call of a tool names them"),
    ("mcp", "--fusion NAME, -f NAME", "a call of a tool names it"),
    ("compare", "--qrels FILE", "put it beside the first run as  qrels.txt"),
    ("leaderboard", "--qrels FILE", "put it into the folder as  qrels.txt"),
    ("explore", "--no-open", "--json  opens nothing"),
    (
        "synthesize generate, synthesize plain, synthesize judge",
        "--json",
        "trivium synthesize status --json  tells the same",
    ),
    ("synthesize plain", "--each N", "two are asked for"),
)
"""Commands, options followed by a word if they take a value, and what is done instead."""

WITHDRAWN: dict[str, dict[str, str]] = {}
"""Command -> option, followed by a word if it takes a value -> what is done instead."""
for _commands, _usages, _instead in _GONE:
    for _command in _commands.split(", "):
        WITHDRAWN.setdefault(_command, {}).update(dict.fromkeys(_usages.split(", "), _instead))


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
