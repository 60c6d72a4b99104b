"""Hooks of ``mkdocs build``: reference pages generated from the program, and links to files of the repository.

A line ``<!-- generated: NAME -->`` in a page is replaced by that part of the reference: the commands, the settings, the
public Python names, the errors or the list of decisions. They are generated with the site, so they cannot go out of
date.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer
from mkdocs.exceptions import PluginError

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

_PLACEHOLDER = re.compile(r"^<!-- generated: ([a-z]+) -->$", re.MULTILINE)
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_ELSEWHERE = re.compile(r"[a-z]+:|#")


_pages: dict[str, str] = {}
"""The Markdown of each page, by its path below ``docs``."""


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Handle the MkDocs event for a page's Markdown before it is rendered."""
    del config, files
    source = Path(page.file.abs_src_path)
    text = _PLACEHOLDER.sub(lambda found: generated(found[1], source), repository_links(markdown, source))
    _pages[page.file.src_uri] = text
    return text


def on_post_build(config: Any) -> None:
    """Handle the MkDocs event after the site is written: put the Markdown of each page beside it, and ``llms.txt``
    (llmstxt.org), which tells language models what there is to read.
    """
    site = Path(config["site_dir"])
    for path, text in _pages.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text, "utf-8")
    lines = [f"# {config['site_name']}", "", f"> {config['site_description']}", *contents(config["nav"])]
    (site / "llms.txt").write_text("\n".join([*lines, ""]), "utf-8")


def contents(nav: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a list of pages, in the order of the menu."""
    single = [entry for entry in nav if isinstance(next(iter(entry.values())), str)]
    sections = [
        ("Documentation", single),
        *(pair for entry in nav if entry not in single for pair in entry.items()),
    ]
    for name, entries in sections:
        yield from ("", f"## {name}", "")
        for title, path in (pair for entry in entries for pair in entry.items()):
            yield f"- [{title}]({path})"


def generated(name: str, page: Path) -> str:
    """Return the named part of the reference. Raises PluginError for an unknown name."""
    makers: dict[str, Callable[[], Iterator[str]]] = {
        "cli": commands,
        "settings": settings,
        "api": public_names,
        "errors": errors,
        "decisions": decisions,
    }
    if name not in makers:
        raise PluginError(f"{page}: expected one of {', '.join(makers)} to be generated, got {name!r}")
    return "\n".join(makers[name]())


# -- links ----------------------------------------------------------------------------------------------------------


def repository_links(markdown: str, page: Path) -> str:
    """Replace links to files outside ``docs`` by their text and path, since the site does not contain these files.

    Raises PluginError for a file that does not exist.
    """

    def shown(link: re.Match[str]) -> str:
        text, target = link[1], link[2]
        if _ELSEWHERE.match(target):
            return link[0]
        path = Path(os.path.normpath(page.parent / target.partition("#")[0]))
        if path.is_relative_to(DOCS):
            return link[0]
        if not path.exists():
            raise PluginError(f"{page}: the link to {target} leads to no file")
        name = path.relative_to(ROOT).as_posix()
        return f"`{name}`" if text.strip("`") in (name, path.name) else f"{text} (`{name}`)"

    return _LINK.sub(shown, markdown)


# -- the command line -----------------------------------------------------------------------------------------------


def commands() -> Iterator[str]:
    """Yield every command with its arguments and options, from the Typer application."""
    from trivium.cli.app import app

    root: Any = typer.main.get_command(app)
    for name, command in root.commands.items():
        yield from _command(f"trivium {name}", command, 2)


def _command(path: str, command: Any, level: int) -> Iterator[str]:
    yield f"\n{'#' * level} {path}\n"
    yield from (_prose(line) for line in _plain(inspect.cleandoc(command.help or "")).splitlines())
    for name, child in getattr(command, "commands", {}).items():
        yield from _command(f"{path} {name}", child, level + 1)
    rows = [_row(parameter) for parameter in command.params if not getattr(parameter, "hidden", False)]
    if rows:
        yield "\n| argument or option | meaning | default |\n|---|---|---|"
        yield from rows


def _row(parameter: Any) -> str:
    argument = parameter.param_type_name == "argument"
    if argument:
        name = f"`{parameter.metavar or parameter.name.upper()}`"
    else:
        name = ", ".join(f"`{option}`" for option in [*parameter.opts, *parameter.secondary_opts])
    if parameter.required:
        default = "required"
    elif parameter.default in (None, False, (), []) or not parameter.show_default:
        default = ""
    else:
        default = f"`{parameter.default}`"
    help_text, _, said = _plain(parameter.help or "").partition("[default: ")
    if said:
        default = said.rstrip("]")
    return f"| {name} | {_cell(help_text)} | {_cell(default)} |"


def _plain(text: str) -> str:
    """Remove terminal markup from a help text."""
    return re.sub(r"\[/?(?:bold|dim|red|green|cyan|italic)[^\]]*\]", "", text).replace("\\[", "[")


def _prose(line: str) -> str:
    """Convert a line of help to Markdown: commands, set off by two spaces in the terminal, become code."""
    if line.startswith("    "):
        return line
    return re.sub(r"  (\S.*?)(?:  | (?=:)|(?=\.(?:\s|$))|$)", r" `\1` ", line).replace("` .", "`.").rstrip()


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", _prose(text)).replace("|", "\\|").replace("<", "&lt;").strip()


# -- settings -------------------------------------------------------------------------------------------------------


def settings() -> Iterator[str]:
    """Yield every setting with its key in ``trivium.toml``, its variables, its default and its meaning."""
    from pydantic import SecretStr
    from pydantic_core import PydanticUndefined

    from trivium.settings.settings import Settings, variables_of

    said = _attribute_docs(Path(inspect.getfile(Settings)), Settings.__name__)
    yield "| key in `trivium.toml` | environment | default | meaning |\n|---|---|---|---|"
    for name, field in Settings.model_fields.items():
        default = field.default
        if default is PydanticUndefined and field.default_factory is not None:
            shown = f"`{str(field.get_default(call_default_factory=True)).replace(str(Path.home()), '~')}`"
        elif default is PydanticUndefined or default is None:
            shown = ""
        elif isinstance(default, SecretStr):
            shown = "none"
        else:
            shown = f"`{default}`"
        cells = [
            f"`{name}`",
            ", ".join(f"`{variable}`" for variable in variables_of(name)),
            shown,
            said.get(name, ""),
        ]
        yield f"| {' | '.join(_cell(cell.replace('``', '`')) for cell in cells)} |"


def _attribute_docs(file: Path, name: str) -> dict[str, str]:
    """Return the docstrings of the attributes of a class, by attribute."""
    (body,) = (
        node.body
        for node in ast.parse(file.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef) and node.name == name
    )
    found: dict[str, str] = {}
    for before, node in pairwise(body):
        if (
            isinstance(before, ast.AnnAssign)
            and isinstance(before.target, ast.Name)
            and isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
        ):
            found[before.target.id] = " ".join(str(node.value.value).split())
    return found


# -- Python ---------------------------------------------------------------------------------------------------------

PROTOCOLS = (
    "trivium.retrievers.query.Retriever",
    "trivium.fusion.score_table.Fusion",
    "trivium.rerank.reranker.Reranker",
    "trivium.embedding.embedder.Embedder",
    "trivium.llm.chat_model.ChatModel",
    "trivium.retrievers.path.Selector",
    "trivium.live.source.LiveSource",
)
"""Protocols that users may implement."""


def public_names() -> Iterator[str]:
    """Yield a heading for each group of ``trivium.__all__``, and a mkdocstrings directive for each name."""
    import trivium

    groups: dict[str, list[str]] = {"Engine": [], "Results and values": [], "Protocols": [], "Errors": []}
    for name in trivium.__all__:
        value = getattr(trivium, name)
        if not inspect.isclass(value):
            continue
        path = f"{value.__module__}.{value.__qualname__}"
        if issubclass(value, Exception):
            groups["Errors"].append(path)
        elif getattr(value, "_is_protocol", False):
            groups["Protocols"].append(path)
        else:
            groups["Engine" if name == "Engine" else "Results and values"].append(path)
    groups["Protocols"] += [path for path in PROTOCOLS if path not in groups["Protocols"]]
    for group, paths in groups.items():
        yield f"\n## {group}\n"
        yield from (f"::: {path}\n" for path in paths)


def errors() -> Iterator[str]:
    """Yield the error hierarchy from the docstring of the errors module."""
    import trivium.errors

    lines = inspect.cleandoc(trivium.errors.__doc__ or "").splitlines()
    tree = [line for line in lines if line.startswith(("TriviumError", "├", "│", "└"))]
    yield "```text\n" + "\n".join(tree) + "\n```"


# -- decisions ------------------------------------------------------------------------------------------------------


def decisions() -> Iterator[str]:
    """Yield a link to each decision, by its title."""
    for file in sorted((DOCS / "decisions").glob("0*.md")):
        title = file.read_text("utf-8").partition("\n")[0].removeprefix("# ")
        yield f"- [{file.stem[:4]}]({file.name}) {title}"
