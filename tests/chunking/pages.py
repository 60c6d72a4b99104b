"""Pages as parsers make them: text in blocks, sections, links, page numbers."""

from __future__ import annotations

from hypothesis import strategies as st

from trivium.parser.document import Document
from trivium.parser.text_runs import TextRun
from trivium.settings.limits import DEFAULT_LIMITS
from trivium.types import Chunk, ChunkKind, Page

WORDS = [
    "Mars",
    "has",
    "two",
    "moons.",
    "They",
    "are",
    "small!",
    "and",
    "dark",
    "e.g.",
    "1877",
    "Größe",
    "土星有光环。",
    "—",
]


def page_of(*blocks: tuple[str, str | ChunkKind], title: str = "Mars") -> Page:
    """A page of (text, kind) blocks; a text under the kind ``heading`` opens a section. Words in ``[brackets]`` link."""
    document = Document(DEFAULT_LIMITS.headings)
    for number, (text, kind) in enumerate(blocks, start=1):
        if kind == "heading":
            document.heading(text, 2)
            continue
        document.page = number
        run = TextRun()
        for word in text.split():
            mark = run.mark()
            run.add(word.strip("[]") + " ")
            if word.startswith("["):
                run.link(word.strip("[]."), mark)
        document.block(ChunkKind(kind), run, references=((f"{number}.md", 0),))
    return Page(title=title, text=document.text, chunks=tuple(document.lead), sections=document.sections)


def texts() -> st.SearchStrategy[str]:
    word = st.one_of(
        st.sampled_from(WORDS),
        st.sampled_from(WORDS[:4]).map(lambda word: f"[{word}]"),
        st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=90).map(
            lambda text: text.replace("[", "")
        ),
    )
    return st.lists(word, max_size=80).map(" ".join)


def pages() -> st.SearchStrategy[Page]:
    kinds = st.sampled_from(["paragraph", "list", "table", "image", "heading"])
    return st.lists(st.tuples(texts(), kinds), max_size=8).map(lambda blocks: page_of(*blocks))


def sections(page: Page) -> list[tuple[Chunk, ...]]:
    """The chunks of each section, the lead first."""
    return [page.chunks, *(section.chunks for section in page.sections)]
