"""Removes non-Markdown syntax of site generators and note-taking programs: shortcodes (Hugo), admonitions (Docusaurus,
GitHub), tabs and abbreviations (MkDocs), comments (Obsidian), components (MDX). The text that readers see is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# No part matches beyond the next opening braces, so that unclosed input takes linear time.
_SHORTCODE = re.compile(
    r"""\{\{([<%])(?P<escape>/\*)?+\s*+(?P<close>/?+)\s*+(?P<name>[\w./-]*+)"""
    r"""(?P<rest>(?:"(?:[^"{]|\{(?!\{))*+"|`(?:[^`{]|\{(?!\{))*+`|(?!\{\{|[>%]\}\})[^"`])*+)[>%]\}\}"""
)
_PARAMETER = re.compile(
    r"""([\w-]+)\s*=\s*(?:"([^"]*)"|`([^`]*)`|([^\s"`]+))|"([^"]*)"|`([^`]*)`|([^\s"`]+)"""
)
_REFERENCES = ("ref", "relref")
_HIDDEN = re.compile(r"\{\{[<%]\s*comment\s*[>%]\}\}.*?(?:\{\{[<%]\s*/\s*comment\s*[>%]\}\}|\Z)", re.DOTALL)
_SHOWN = ("title", "header", "name", "text", "summary", "caption")
_WITH_TITLE = frozenset(
    ["tab", "details", "expand", "panel", "card", "alert", "admonition", "callout", "note", "warning", "tip"]
)

_FENCE = re.compile(r"[ \t>]*(?:[-*+]\s+|\d{1,9}[.)]\s+)?(`{3,}|~{3,})(.*)")
_CONTAINER = re.compile(r"^([ \t>]*):{3,}[ \t]*(?:([\w-]+)[ \t]*)?(.*)")
_CALLOUT = re.compile(r"^([ \t]*(?:>[ \t]*)+)\[!([\w-]{1,40})\][-+]?[ \t]*(.*)")
_ATTRIBUTES = re.compile(r"^[ \t]*\{:[^{}\n]*\}[ \t]*$")
_STATEMENT = re.compile(r"^(?:import\s.*?\bfrom\s*|import\s*)['\"][^'\"]*['\"];?\s*$|^export\s.*$")
_EXPRESSION = re.compile(r"\{/\*(?:(?!\{/\*).)*?\*/\}", re.DOTALL)
_SELF_CLOSED = re.compile(r"<[A-Z][\w.]*(?:\s[^<>]*)?/>")
_LINK_COMPONENT = re.compile(r"<Link\b([^<>]*?)\bto=([\"'][^\"']*[\"'])([^<>]*)>|</Link\s*>")
_TAB = re.compile(r'^([ \t]*)===[!+]?[ \t]+"([^"]*)"[ \t]*$')
_ABBREVIATION = re.compile(r"^[ \t]*\*\[[^\[\]]{1,100}\]:[ \t].*$")
_COMMENT = "%%"
_INLINE_COMMENT = re.compile(r"(?<!\S)%%(?!%)[^%`]*%%(?!\S)")
_SNIPPET = re.compile(r"[ \t]*-+8<-")


def without_shortcodes(text: str) -> str:
    """Remove Hugo shortcodes from a text; the text between an opening and a closing one is kept.

    >>> without_shortcodes('{{< note >}}Mind the {{< tooltip text="gap" id="g" >}}.{{< /note >}}')
    'Mind the gap.'
    """
    if "{{" not in text:
        return text
    return _SHORTCODE.sub(_shown, _HIDDEN.sub("", text))


def _shown(found: re.Match[str]) -> str:
    if found["escape"]:  # an example of a shortcode in a text about shortcodes
        opening, closing = found[1], ">" if found[1] == "<" else "%"
        return f"{{{{{opening} {found['name']}{found['rest'].rstrip().removesuffix('*/')}{closing}}}}}"
    name = found["name"]
    if found["close"]:
        return ""
    named, plain = _parameters(found["rest"])
    if name in _REFERENCES:
        return plain[0] if plain else named.get("path", "")
    address = named.get("url") or named.get("href") or named.get("link") or ""
    if name == "figure":
        alt, caption = named.get("alt", ""), named.get("caption") or named.get("title") or ""
        picture = f"![{_bare(alt or caption)}](<{_bare(named.get('src', ''))}>)" if named.get("src") else ""
        return f"\n\n{picture}\n\n{caption}\n\n"
    if name in _WITH_TITLE or name.endswith("tab"):
        title = next((named[key] for key in _SHOWN if named.get(key)), "")
        return f"\n\n**{_bare(title)}**\n\n" if title.strip() else ""
    text = named.get("text") or ""
    if named.get("term_id"):
        return f"[[{_bare(named['term_id'])}|{_bare(text or named['term_id'])}]]"
    if address and text:
        return f"[{_bare(text)}](<{_bare(address)}>)"
    return text


def _parameters(written: str) -> tuple[dict[str, str], list[str]]:
    named: dict[str, str] = {}
    plain: list[str] = []
    for match in _PARAMETER.finditer(written):
        if match[1]:
            named[match[1].lower()] = match[2] or match[3] or match[4] or ""
        else:
            plain.append(match[5] or match[6] or match[7] or "")
    return named, [value for value in plain if value != "/"]


def _bare(text: str) -> str:
    """Remove marks that would end the construct into which the text is inserted."""
    return re.sub(r"[\[\]<>|\n]", " ", text).strip()


def plain_blocks(text: str, *, mdx: bool = False) -> str:
    """Remove the marks of admonitions and attributes and, in MDX, imports and components. Code is unchanged.

    >>> plain_blocks("> [!NOTE]\\n> Mind.\\n")
    '> \\n> Mind.\\n'
    """
    return "\n".join(_plain_lines(text.split("\n"), mdx))


def _plain_lines(lines: list[str], mdx: bool) -> Iterator[str]:
    fence = ""
    left = [line.strip() for line in lines].count(_COMMENT)  # remaining lines that begin or end a comment
    hidden = False
    for line in lines:
        if not fence and line.strip() == _COMMENT:
            left -= 1
            if hidden or left:
                hidden = not hidden
                yield ""
                continue
        if hidden:
            yield ""
            continue
        found = _FENCE.match(line)
        if found is not None:
            mark = found[1]
            if not fence and not (mark[0] == "`" and "`" in found[2]):
                fence = mark
            elif fence and mark[0] == fence[0] and len(mark) >= len(fence) and not found[2].strip():
                fence = ""
        if fence or found is not None:
            yield line
        else:
            yield _plain_line(line, mdx)


def _plain_line(line: str, mdx: bool) -> str:
    if ":::" in line and (container := _CONTAINER.match(line)) is not None:
        title = container[3].strip().strip('"[]').strip()
        title = re.sub(r"^\{.*\}$", "", title)
        return (
            f"{container[1]}\n{container[1]}**{title}**\n{container[1]}" if title else container[1].rstrip()
        )
    if "[!" in line and (callout := _CALLOUT.match(line)) is not None:
        return f"{callout[1]}**{callout[3].strip()}**\n{callout[1]}" if callout[3].strip() else callout[1]
    if "{:" in line and _ATTRIBUTES.match(line):
        return ""
    if "===" in line and (tab := _TAB.match(line)) is not None:
        return f'{tab[1]}!!! tab "{tab[2]}"'
    if "*[" in line and _ABBREVIATION.match(line):
        return ""
    if _COMMENT in line:
        line = _INLINE_COMMENT.sub("", line)
    if "8<" in line and _SNIPPET.match(line):
        return ""
    if mdx:
        if _STATEMENT.match(line):
            return ""
        if "<" in line:
            line = _SELF_CLOSED.sub("", _LINK_COMPONENT.sub(_anchor, line))
        if "{/*" in line:
            line = _EXPRESSION.sub("", line)
    return line


def _anchor(found: re.Match[str]) -> str:
    return f"<a href={found[2]}>" if found[2] else "</a>"
