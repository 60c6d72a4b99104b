"""Markdown files become pages: front matter, sections, chunks and the addresses they link to."""

import contextlib
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.errors import ParseError
from trivium.parser.documents.document_file import DocumentFile
from trivium.parser.documents.front_matter import read_front_matter
from trivium.parser.documents.markdown import read
from trivium.settings.limits import DEFAULT_LIMITS
from trivium.types import ChunkKind, Page


def page(text: str, path: str = "docs/setup.md") -> Page:
    return read(DocumentFile(text.encode(), source=path, path=path), DEFAULT_LIMITS)


def texts(text: str, path: str = "docs/setup.md") -> list[str]:
    return [chunk.text for _, chunk in page(text, path).all_chunks()]


def references(text: str) -> list[str]:
    return [address for _, chunk in page(text).all_chunks() for address in chunk.references]


def test_headings_of_both_kinds_are_sections() -> None:
    read = page(
        "Setup\n=====\n\nLead.\n\n## Linux {#linux}\n\nText.\n\nMac\n---\n\nMore.\n\n### Brew\n\nLast.\n"
    )
    assert read.title == "Setup"
    assert [(s.level, s.heading, s.parent) for s in read.sections] == [
        (1, "Linux", None),
        (1, "Mac", None),
        (2, "Brew", 1),
    ]
    assert [c.text for c in read.chunks] == ["Lead."]
    assert all(read.text[c.start : c.end] == c.text for _, c in read.all_chunks())


def test_headings_keep_code_and_escaped_characters() -> None:
    """Of ``proj_`` in a code span and of an escaped underscore nothing is lost."""
    read = page("# Channels\n\n## Projects (`proj_`)\n\nOne.\n\n## Groups (wg\\_) of snake_case\n\nTwo.")
    assert [section.heading for section in read.sections] == [
        "Projects (proj_)",
        "Groups (wg_) of snake_case",
    ]


@pytest.mark.parametrize(
    ("text", "path", "title"),
    [
        ("---\ntitle: From front matter\n---\n# Heading\n\nText.", "a.md", "From front matter"),
        ("# Heading\n\nText.", "a.md", "Heading"),
        ("## Second level\n\nText.", "my_notes.md", "my notes"),
        ("Text.", "docs/concepts/_index.md", "concepts"),
        ("Text.", "docs/README.md", "docs"),
        ("<h1 align='center'>Shown</h1>\n\nText.", "a.md", "Shown"),
    ],
)
def test_a_page_is_called_what_it_says_else_after_its_file(text: str, path: str, title: str) -> None:
    assert page(text, path).title == title


def test_yaml_front_matter_becomes_metadata_as_it_was_written() -> None:
    front = read_front_matter(
        "---\ntitle: T\naliases: [/old/, Other name]\ntags: [a, 2, true]\ncountry: no\nat: 12:30\ndate: 2024-5-1\n"
        "when: 2024-05-01T10:00:00Z\nweight: 20\nshare: .5\ndraft: true\nnested: {a: 1}\nnothing:\n---\nText"
    )
    assert front.title == "T"
    assert front.aliases == ("/old/", "Other name")
    assert front.metadata == {
        "tags": "a, 2, true",
        "country": "no",
        "at": "12:30",
        "date": "2024-05-01",
        "when": "2024-05-01T10:00:00+00:00",
        "weight": 20,
        "share": 0.5,
        "draft": True,
    }


def test_toml_front_matter_is_read_too() -> None:
    read = page('+++\ntitle = "T"\ndate = 2024-05-01\ntags = ["a", "b"]\n+++\n\nText.')
    assert read.title == "T"
    assert read.metadata == {"date": "2024-05-01", "tags": "a, b"}
    assert read.text == "Text."


@pytest.mark.parametrize(
    "front",
    [
        "title: Unclosed [\nauthor: Ann",
        "author: Ann\nwhen: 2024-13-45",
        "author: Ann\nx: !!python/object/apply:os.system ['true']",
        "author: Ann\nx: {{ template }}",
    ],
)
def test_front_matter_that_is_no_yaml_gives_its_plain_lines(front: str) -> None:
    read = page(f"---\n{front}\n---\nText.")
    assert read.metadata["author"] == "Ann"
    assert read.text == "Text."


def test_a_rule_at_the_beginning_is_no_front_matter() -> None:
    assert texts("---\n\nSome words.\n\n---\n\nMore.") == ["Some words.", "More."]


def test_aliases_that_repeat_one_another_take_no_room() -> None:
    laughs = "a0: &a0 [lol]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30)
    )
    assert page(f"---\n{laughs}---\nText.").metadata == {"a0": "lol"}


def test_tables_have_their_headers_in_every_row() -> None:
    [chunk] = page("| Part | Price |\n|--|--|\n| Nut | 2 |\n| [Bolt](bolt.md) | 3 |\n").chunks
    assert chunk.kind is ChunkKind.TABLE
    assert chunk.text == "Part | Price\nPart: Nut; Price: 2\nPart: Bolt; Price: 3"
    assert chunk.references == ("bolt.md",)


def test_a_table_in_html_goes_on_after_an_empty_line_until_it_is_closed() -> None:
    rows = "".join(
        f"    <tr>\n      <td colspan='2'>--{name}&nbsp;&nbsp;Default: 1</td>\n    </tr>\n"
        f"    <tr>\n      <td></td><td>Sets {name}.</td>\n    </tr>\n\n"
        for name in ("alpha", "beta")
    )
    table = f"<table>\n  <colgroup>\n    <col />\n  </colgroup>\n  <tbody>\n\n{rows}  </tbody>\n</table>\n\n"
    code = "Text:\n\n    <tr><td>an example</td></tr>\n"
    read = page(f"# Options\n\n{table}{code}")
    assert [(chunk.kind, chunk.text) for chunk in read.chunks] == [
        (ChunkKind.TABLE, "--alpha Default: 1\nSets alpha.\n--beta Default: 1\nSets beta."),
        (ChunkKind.PARAGRAPH, "Text:"),
        (ChunkKind.CODE, "<tr><td>an example</td></tr>"),
    ]


def test_markdown_and_code_in_the_cells_of_a_table_in_html_are_read_as_such() -> None:
    table = "<table>\n<tr><td>\n\n**Bold** `a`\n\n    indented()\n\n</td></tr>\n</table>\n"
    assert "\n".join(texts(table)) == "Bold a\nindented()"


def test_lists_code_quotes_definitions_and_footnotes() -> None:
    read = page(
        "- [x] one\n  - two\n\n```sh\nls  -l\n  x\n```\n\n> said\n\nTerm\n: meaning[^1]\n\n[^1]: a note\n"
    )
    assert [(c.kind, c.text) for c in read.chunks] == [
        (ChunkKind.LIST, "[x] one\n  two"),
        (ChunkKind.CODE, "ls  -l\n  x"),
        (ChunkKind.QUOTE, "said"),
        (ChunkKind.DEFINITION, "Term: meaning"),
        (ChunkKind.LIST, "a note"),
    ]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('!!! note "Mind"\n    The **gap**.\n\n    And this.\n', ["Mind", "The gap.", "And this."]),
        (":::tip Mind\n\nThe gap.\n\n:::\n", ["Mind", "The gap."]),
        (":::note\nThe gap.\n:::\n", ["The gap."]),
        ("> [!WARNING]\n> The gap.\n", ["The gap."]),
        ("{{< note >}}\nThe gap.\n{{< /note >}}\n", ["The gap."]),
        ("{{% capture body %}}\n\n## A\n\nThe gap.\n\n{{% /capture %}}\n", ["The gap."]),
        ('{{< tab name="Mac" >}}\nThe gap.\n{{< /tab >}}', ["Mac", "The gap."]),
        ('A {{< tooltip text="gap" term="x" >}} is.', ["A gap is."]),
        ("{{< comment >}}hidden{{< /comment >}}The gap.", ["The gap."]),
        ("`{{</* note */>}}` is a shortcode", ["{{< note >}} is a shortcode"]),
        ("Text.\n{: .lead }\n", ["Text."]),
        ("Text <!-- hidden --> more.", ["Text more."]),
        ("Run `a <b>` and put <name> there.", ["Run a <b> and put <name> there."]),
        ("Text <b>bold</b>.\n\n<script>x()</script>\n\nMore.", ["Text bold.", "More."]),
        ("<style>\n\nNot closed.", ["<style> Not closed."]),
        ("The <title> element.\n\nMore.", ["The <title> element.", "More."]),
        ("<details>\n<summary>More</summary>\n\nInside.\n\n</details>\n", ["More", "Inside."]),
    ],
)
def test_what_readers_see_is_kept_and_tags_are_not(text: str, read: list[str]) -> None:
    assert texts(text) == read


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (
            '=== "Linux"\n\n    Run `apt`.\n\n=== "Mac"\n\n    Run `brew`.\n',
            ["Linux", "Run apt.", "Mac", "Run brew."],
        ),
        (
            "A ==marked word== here, a==b, c == d == e, `==x==`.",
            ["A marked word here, a==b, c == d == e, ==x==."],
        ),
        ("HTML is old.\n\n*[HTML]: Hyper Text Markup Language\n", ["HTML is old."]),
        ("Seen. %% not seen %% Seen, 50%% of it, 30%% of that.", ["Seen. Seen, 50%% of it, 30%% of that."]),
        ("One.\n\n%%\nnot seen\n\nnor this\n%%\n\nTwo.", ["One.", "Two."]),
        ("One.\n\n%%\n\nnever closed", ["One.", "never closed"]),
        ("A quote. ^a1b2c3\n\n- item ^my-item\n\nx ^2", ["A quote.", "item", "x ^2"]),
        (
            "[![Build](https://img.shields.io/x.svg)](https://e.org) ![CI](https://e.org/w/badge.svg)\n\nText.",
            ["Text."],
        ),
        ("![A plan of the house](https://e.org/plan.png)", ["A plan of the house"]),
    ],
)
def test_what_mkdocs_and_obsidian_add_is_not_read_as_text(text: str, read: list[str]) -> None:
    assert "\n".join(texts(text)).split("\n") == read


def test_mdx_components_and_imports_are_left_out() -> None:
    text = (
        "import Tabs from '@theme/Tabs';\n\n# Start\n\n<Tabs>\n\nInside.\n\n</Tabs>\n\n<Logo size={3} />\n\n"
        'See <Link to="/x">it</Link>.\n'
    )
    read = page(text, "a.mdx")
    assert [chunk.text for _, chunk in read.all_chunks()] == ["Inside.", "See it."]
    assert read.chunks[-1].references == ("/x",)


@pytest.mark.parametrize(
    "text",
    [
        "Let $p*q*r = \\{3, 4\\}$ and $y_j^{*} z_j^{*}|$ be.",
        "$$ \\sum_k a*b*c \\\\ k $$",
        "It has 6*7*8 cells, 1.5*2*4 m.",
        "`$p*q$` costs $5 or $6-$7, or a^2+b^2, C~6~.",
    ],
)
def test_formulas_stay_as_they_are_written(text: str) -> None:
    assert texts(text) == [text.replace("`", "")]
    assert texts(f"- {text}\n- x\n")[0].startswith(text.replace("`", ""))


def test_dollars_of_prices_do_not_keep_marks() -> None:
    assert texts("It costs $5 and *then* $6, a$ *so* b$.") == ["It costs $5 and then $6, a$ so b$."]


def test_links_to_other_files_are_references_and_others_are_not() -> None:
    text = "[a](b.md#c) [d](/docs/e/) [f](https://e.org) [g](#h) [i](mailto:j@k.l) [m](<n o.md>) [p]\n\n[p]: ../q.md\n"
    assert references(text) == ["b.md#c", "/docs/e/", "n%20o.md", "../q.md"]


def test_wiki_links_are_references_by_name() -> None:
    text = "[[Other note]], [[Other#Part|shown]], ![[Embedded]], ![[pic.png|200]], [[1]](x.md), `[[code]]`"
    assert references(text) == ["[[Other note]]", "[[Other#Part]]", "[[Embedded]]", "x.md"]
    assert texts(text) == ["Other note, shown, Embedded, , [1], [[code]]"]


def test_references_of_hugo() -> None:
    text = '[a]({{< ref "b.md#c" >}}), {{< link text="d" url="/e/" >}}, {{< tooltip text="Pods" term_id="pod" >}}'
    assert references(text) == ["b.md#c", "/e/", "[[pod]]"]
    assert texts(text) == ["a, d, Pods"]


def test_code_is_left_as_it_is() -> None:
    assert texts("```\n:::note\n> [!NOTE]\n!!! x\n```") == [":::note\n> [!NOTE]\n!!! x"]


def test_a_page_that_only_lists_others_is_what_it_says_of_itself() -> None:
    assert texts("---\ntitle: T\ndescription: All of it.\n---\n") == ["All of it."]


@pytest.mark.parametrize(
    ("text", "title", "headings"),
    [
        ("---\ntitle: Concepts\nweight: 4\n---\n", "Concepts", []),
        ("---\nweight: 4\n---\n", "docs", []),
        ("# Later\n", "Later", []),
        ("## One\n\n## Two\n", "docs", ["One", "Two"]),
    ],
)
def test_a_file_that_only_has_a_title_is_a_page_without_text(
    text: str, title: str, headings: list[str]
) -> None:
    """Such are the index files of sites, and notes that are still to be written."""
    read = page(text, "docs/_index.md")
    assert (read.title, list(read.all_chunks())) == (title, [])
    assert [section.heading for section in read.sections] == headings


@pytest.mark.parametrize("text", ["", "   \n", "![](a.png)"])
def test_a_file_without_text_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="no text"):
        page(text)


def test_a_file_beyond_the_limit_is_refused() -> None:
    limits = DEFAULT_LIMITS.model_copy(update={"markdown_bytes": 10})
    with pytest.raises(ParseError, match="more than the limit of 10"):
        read(DocumentFile(b"x" * 11, "a", "a.md"), limits)


def test_a_file_that_takes_too_long_is_refused() -> None:
    limits = DEFAULT_LIMITS.model_copy(update={"seconds": 1e-6})
    with pytest.raises(ParseError, match="more processor time than the limit"):
        read(DocumentFile(b"[" * 20_000, "a", "a.md"), limits)


def test_a_long_run_of_brackets_is_text() -> None:
    assert page("See " + "[" * 60 + " and [the sun](https://a.example)").text.endswith(
        "[" * 60 + " and the sun"
    )


HOSTILE: dict[str, Callable[[int], str]] = {
    "brackets": lambda n: "[" * n,
    "nested links": lambda n: "[a](" * (n // 4),
    "emphasis": lambda n: "**a *a " * (n // 7),
    "quotes": lambda n: "> " * (n // 2) + "x",
    "lists": lambda n: "- " * (n // 2) + "x",
    "shortcodes": lambda n: "{{< a " * (n // 6),
    "quoted shortcodes": lambda n: '{{<"' * (n // 4),
    "wiki links": lambda n: "[[a|" * (n // 4),
    "footnotes": lambda n: "".join(f"[^{i}]: x\n" for i in range(n // 16)) + "[^1]" * (n // 8),
    "dotted keys": lambda n: "+++\n" + "a." * (n // 2) + "a=1\n+++\nx",
    "yaml": lambda n: "---\n" + "[" * n + "\n---\nx",
    "attributes": lambda n: "# " + "{#" * (n // 2) + "}",
    "html": lambda n: "<a b " * (n // 5),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_time_grows_no_faster_than_the_file(name: str) -> None:
    """Measured in processor time; quadratic would be sixteen times as long for four times as much."""

    def seconds(size: int) -> float:
        text = HOSTILE[name](size)
        started = time.process_time()
        with contextlib.suppress(ParseError):
            page(text)
        return time.process_time() - started

    page("warm up")
    small, large = (min(seconds(size) for _ in range(2)) for size in (1_500, 6_000))
    assert large < max(0.25, 10 * small)


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="# -*_[](){}<>|!`~:\n\\&;ab1\"'/^$=+.%\t\r\0é", max_size=200))
def test_whatever_is_written_is_read_or_refused(text: str) -> None:
    try:
        read = page(text)
    except ParseError:
        return
    assert all(read.text[c.start : c.end] == c.text and c.text.strip() for _, c in read.all_chunks())
