"""The parser against an independent extraction with BeautifulSoup, on real pages.

The oracle shares no code with the parser: it removes what the specification leaves out with CSS selectors
from a tree that lxml built, and takes the words and links of everything that remains. By default a fixed
sample of the pages is compared; TRIVIUM_FULL=1 compares all 400.
"""

from __future__ import annotations

import json
import os
import re
import tarfile
import unicodedata
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from bs4 import BeautifulSoup, Tag

from trivium.parser.html import parse_html
from trivium.types import Page

DATA = Path(os.environ.get("TRIVIUM_DATA", Path(__file__).parents[3] / "shared" / "data"))
PAGES = os.environ.get("TRIVIUM_PAGES")  # a folder with the unpacked pages, to save decompressing them
SAMPLE = 40

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(
        not (DATA / "wiki" / "subset_400_files.txt").exists(),
        reason=f"no evaluation data at {DATA}: set TRIVIUM_DATA",
    ),
]

NAVIGATION = (
    ".navbox, .vertical-navbox, .sidebar, .navbar, .succession-box, .authority-control, .portal, "
    ".sistersitebox, .toc, #toc, .hatnote, .mw-editsection, [role=navigation]"
)
REFERENCES = ".reflist:not(.refbegin), ol.references, .mw-references-wrap, sup.reference"
MAINTENANCE = ".ambox, .metadata, .mbox-small, .Inline-Template, .asof-tag, .infobox-journal-search"
NOT_SHOWN = (
    ".noprint:not(span), [style*='display:none'], [style*='display: none'], script, style, noscript, audio, "
    "video, map, .mw-tmh-playtext, .PopUpMediaTransform, #coordinates, .geo-nondefault, .geo-multi-punct"
)
LEFT_OUT = ", ".join((NAVIGATION, REFERENCES, MAINTENANCE, NOT_SHOWN))
BLOCKS = (
    "p, div, li, ul, ol, dl, dt, dd, td, th, tr, table, caption, blockquote, center, pre, br, hr, "
    "h1, h2, h3, h4, h5, h6, section, figure, figcaption"
)
OTHER_NAMESPACES = re.compile(
    r"(Special|User|Wikipedia|File|Image|MediaWiki|Template|Help|Category|Portal|Book|Draft|Module|Media|WP|"
    r"TimedText|\w+ talk|Talk):",
    re.IGNORECASE,
)


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.replace("\u200b", "").replace("\ufeff", "").replace("\xad", "").lower())


class Oracle:
    """What BeautifulSoup finds on a page: words and links of the article, and the texts that are left out."""

    def __init__(self, html: bytes) -> None:
        soup = BeautifulSoup(html, "lxml")
        body = soup.select_one("#mw-content-text .mw-parser-output")
        assert isinstance(body, Tag)
        for formula in body.select(".mwe-math-element"):
            image = formula.find("img")
            tex = str(image["alt"]) if isinstance(image, Tag) else ""
            formula.replace_with(re.sub(r"^\{\\displaystyle(.*)\}$", r"\1", tex, flags=re.DOTALL))
        for block in body.select(BLOCKS):
            block.insert_before(" ")
            block.append(" ")
        self.left_out = []
        for element in body.select(LEFT_OUT):
            if not element.decomposed:
                self.left_out.append(element.get_text())
                element.decompose()
        for heading in body.select("h1, h2, h3, h4, h5, h6"):
            heading.decompose()
        self.text = body.get_text()
        self.words = Counter(words(self.text))
        self.links = Counter(filter(None, (content_title(str(a["href"])) for a in body.select("a[href]"))))


def content_title(href: str) -> str | None:
    address = urlsplit(href)
    if address.netloc not in ("", "en.wikipedia.org"):
        return None
    if address.path.startswith("/wiki/"):
        title = unquote(address.path[6:])
    elif parse_qs(address.query).get("redlink") == ["1"]:
        title = parse_qs(address.query)["title"][0]
    else:
        return None
    title = unicodedata.normalize("NFC", title.replace("_", " ").strip())
    if not title or OTHER_NAMESPACES.match(title):
        return None
    return title[0].upper() + title[1:]


def read_pages() -> Iterator[tuple[str, bytes]]:
    """The first pages of the archive, which has them in no order of theirs: the rest need not be decompressed."""
    listed = (DATA / "wiki" / "subset_400_files.txt").read_text().split("\n")
    wanted = {name for name in listed if name}
    size = len(wanted) if os.environ.get("TRIVIUM_FULL") else SAMPLE
    return islice(_pages(wanted), size)


def _pages(wanted: set[str]) -> Iterator[tuple[str, bytes]]:
    if PAGES:
        for name in sorted(wanted):
            yield name, (Path(PAGES) / name).read_bytes()
        return
    with tarfile.open(DATA / "wiki" / "pages.tar.xz") as archive:
        for member in archive:
            name = member.name.rpartition("/")[2]
            if name in wanted:
                content = archive.extractfile(member)
                assert content is not None
                wanted.discard(name)
                yield name, content.read()
                if not wanted:
                    return


@pytest.fixture(scope="module")
def compared() -> list[tuple[str, Page, Oracle]]:
    return [(name, parse_html(html, source=name), Oracle(html)) for name, html in read_pages()]


def report(label: str, found: int, total: int, examples: Counter[str]) -> float:
    share = found / total
    print(f"{label}: {found:,} of {total:,} = {share:.4%}; most often missing: {examples.most_common(12)}")
    return share


def test_the_words_of_the_article_are_in_chunks(compared: list[tuple[str, Page, Oracle]]) -> None:
    """At least 99 % of the words, counted with their repetitions, are in the chunks of their page."""
    total = missing = 0
    lost: Counter[str] = Counter()
    worst = 1.0
    for _, page, oracle in compared:
        chunks = Counter(words("\n".join(chunk.text for _, chunk in page.all_chunks())))
        gone = oracle.words - chunks
        lost += gone
        size = oracle.words.total()
        total += size
        missing += gone.total()
        worst = min(worst, 1 - gone.total() / max(size, 1))
    print(f"worst page: {worst:.2%}")
    assert report("words", total - missing, total, lost) >= 0.99


def test_nothing_but_the_article_is_in_chunks(compared: list[tuple[str, Page, Oracle]]) -> None:
    """Outside tables, whose headers are repeated, chunks hold hardly a word that the article does not."""
    total = surplus = 0
    found: Counter[str] = Counter()
    for _, page, oracle in compared:
        texts = [c.text for _, c in page.all_chunks() if c.kind not in ("table", "infobox")]
        chunks = Counter(words("\n".join(texts)))
        total += chunks.total()
        more = chunks - oracle.words
        surplus += more.total()
        found += more
    assert report("words of the article", total - surplus, total, found) >= 0.999


def test_what_is_left_out_is_in_no_chunk(compared: list[tuple[str, Page, Oracle]]) -> None:
    """No run of eight words of a navigation box, reference list, hatnote or notice is found in the chunks."""
    found: Counter[str] = Counter()
    checked = 0
    for name, page, oracle in compared:
        text = " ".join(words(" ".join(chunk.text for _, chunk in page.all_chunks())))
        article = " ".join(words(oracle.text))
        for left in oracle.left_out:
            run = words(left)
            for at in range(0, len(run) - 7, 8):
                gram = " ".join(run[at : at + 8])
                checked += 1
                if gram in text and gram not in article:
                    found[f"{name}: {gram}"] += 1
    print(f"{checked:,} runs of left-out words looked for")
    assert checked > 1_000
    assert not found, found.most_common(10)


def test_no_marks_of_the_apparatus_are_in_chunks(compared: list[tuple[str, Page, Oracle]]) -> None:
    """Footnote marks, edit links and "citation needed" are gone, unless the article itself writes them."""
    mark = re.compile(r"\[(?:\d+|edit|citation needed|note \d+|nb \d+)\]")
    for name, page, oracle in compared:
        found = Counter(mark.findall(" ".join(chunk.text for _, chunk in page.all_chunks())))
        assert not found - Counter(mark.findall(oracle.text)), name


def test_content_links_are_kept(compared: list[tuple[str, Page, Oracle]]) -> None:
    """At least 99.5 % of the links to articles, counted with their repetitions, are links of chunks."""
    total = missing = 0
    lost: Counter[str] = Counter()
    for _, page, oracle in compared:
        expected = Counter({title: n for title, n in oracle.links.items() if title != page.title})
        gone = expected - Counter(link.target for _, chunk in page.all_chunks() for link in chunk.links)
        lost += gone
        total += expected.total()
        missing += gone.total()
    assert report("links", total - missing, total, lost) >= 0.995


def test_pages_are_known_by_their_canonical_title(compared: list[tuple[str, Page, Oracle]]) -> None:
    """Titles, redirects and revisions agree with the index that was made when the pages were crawled."""
    rows = map(json.loads, (DATA / "wiki" / "pages_index.jsonl").read_text().splitlines())
    index = {row["file"]: row for row in rows}
    for name, page, _ in compared:
        row = index[name]
        assert page.title == unicodedata.normalize("NFC", row["page_name"].replace("_", " "))
        assert page.revision == row["revision"]
        alias = row["redirected_from"]
        assert page.aliases == (() if alias is None else (alias.replace("_", " "),))


def test_gold_paragraphs_are_inside_one_chunk_of_their_section(
    compared: list[tuple[str, Page, Oracle]],
) -> None:
    """For at least 99 % of the questions a chunk of the stated section holds the gold paragraph.

    Holding means sharing at least 60 % of the paragraph's word 4-grams.
    """
    pages = {page.title: page for _, page, _ in compared}
    asked = held = 0
    lost: Counter[str] = Counter()
    known: dict[tuple[str, str, str], bool] = {}
    for line in (DATA / "wiki" / "squad_questions.jsonl").read_text().splitlines():
        row = json.loads(line)
        page = pages.get(row["page"].replace("_", " "))
        if page is None:
            continue
        asked += 1
        key = (page.title, row["section"], row["paragraph"])
        if key not in known:
            known[key] = is_held(page, row["section"], row["paragraph"])
        held += known[key]
        if not known[key]:
            lost[f"{key[0]} > {key[1]}: {key[2][:80]}"] += 1
    assert asked > 0
    assert report("gold paragraphs", held, asked, lost) >= 0.99


def is_held(page: Page, section: str, paragraph: str) -> bool:
    wanted = grams(paragraph)
    for holder, chunk in page.all_chunks():
        path = []
        while holder is not None:
            path.append(" ".join(words(holder.heading)))
            holder = None if holder.parent is None else page.sections[holder.parent]
        stated = " ".join(words(section))
        in_section = not path if section == "__lead__" else stated in path
        if in_section and len(wanted & grams(chunk.text)) >= 0.6 * len(wanted):
            return True
    return False


def grams(text: str) -> set[tuple[str, ...]]:
    found = words(text)
    return set(zip(found, found[1:], found[2:], found[3:], strict=False)) or {tuple(found)}
