"""The share of the words of documents that are in no passage, by format, by extractors independent of the parser.

python -m experiments.documents.lost_words FOLDER ... [--show 5] [--most 200]
"""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path

from experiments import command
from trivium.index.parsing import parse_item
from trivium.parser.sources.discover import discover
from trivium.parser.sources.source_items import Problem
from trivium.settings.limits import DEFAULT_LIMITS
from trivium.text.normalise import composed

WORD = re.compile(r"[^\W\d_]{2,}")
_TAG = re.compile(r"<(script|style|head)\b.*?</\1>|<!--.*?-->|<[^>]+>", re.DOTALL | re.IGNORECASE)
_FRONT = re.compile(r"\A(---|\+\+\+)\n.*?\n\1\n", re.DOTALL)
_COMMAND = re.compile(r"\{\{[<%]\s*(?!/\*).*?[>%]\}\}", re.DOTALL)
_TABLE_TAG = re.compile(r"</?(?:table|thead|tbody|tr|td|th|caption|p|br|a|span|strong|ul|ol|li)\b[^<>]*>")
_COMMENT = re.compile(r"\{\{[<%]\s*comment\s*[>%]\}\}.*?\{\{[<%]\s*/comment\s*[>%]\}\}", re.DOTALL)


def words_of(text: str) -> Counter[str]:
    """The words of a text, of two letters or more; numbers are left out because formats write them in several ways."""
    return Counter(word.casefold() for word in WORD.findall(composed(text)))


def html_text(data: bytes) -> str:
    """What a browser shows of a page, without its head, menus and footers."""
    from bs4 import BeautifulSoup, Comment

    soup = BeautifulSoup(data, "html.parser")
    for node in soup(["script", "style", "head", "nav", "footer", "template", "noscript"]):
        node.decompose()
    for comment in soup(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    return soup.get_text(" ")


def markdown_text(data: bytes) -> str:
    """The text of Markdown as CommonMark renders it, without front matter and without what is no text of the page: the
    commands of a site generator (``{{< note >}}``, but not the text between two of them) and its comments.
    """
    from markdown_it import MarkdownIt

    source = _COMMAND.sub("", _COMMENT.sub("", _FRONT.sub("", data.decode("utf-8", "replace"))))
    shown = html_text(MarkdownIt("commonmark").enable(["table"]).render(source).encode())
    return unescape(_TABLE_TAG.sub(" ", shown))  # CommonMark shows indented rows of HTML as code


def word_text(data: bytes) -> str:
    """Paragraphs of the body, tables, text boxes and notes."""
    import docx

    parts = [docx.Document(io.BytesIO(data)).element.body]
    paragraphs = ["".join(t.text or "" for t in p.iter("{*}t")) for body in parts for p in body.iter("{*}p")]
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        notes = [archive.read(n).decode() for n in archive.namelist() if n.endswith("notes.xml")]
    return "\n".join([*paragraphs, *(_TAG.sub("", note.replace("</w:p>", "\n")) for note in notes)])


def powerpoint_text(data: bytes) -> str:
    """Shapes, tables and notes of the slides."""
    import pptx

    lines: list[str] = []
    for slide in pptx.Presentation(io.BytesIO(data)).slides:
        lines += ["".join(t.text or "" for t in p.iter("{*}t")) for p in slide._element.iter("{*}p")]
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            lines.append(slide.notes_slide.notes_text_frame.text)
    return "\n".join(lines)


def excel_text(data: bytes) -> str:
    """Texts in the cells of the sheets that are shown."""
    import openpyxl

    book = openpyxl.load_workbook(io.BytesIO(data), data_only=True)
    return "\n".join(
        cell
        for sheet in book.worksheets
        if sheet.sheet_state == "visible"
        for row in sheet.iter_rows(values_only=True)
        for cell in row
        if isinstance(cell, str)
    )


def pdf_text(data: bytes) -> str:
    """The text of the pages, without hyphenated line ends."""
    import pypdfium2

    pdf = pypdfium2.PdfDocument(data)
    text = "\n".join(page.get_textpage().get_text_bounded() for page in pdf)
    return re.sub(r"[-\u00ad\ufffe\u0002]\s*\n\s*", "", text)


def epub_text(data: bytes) -> str:
    """The text of the chapters."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        chapters = [n for n in archive.namelist() if n.endswith(("html", "htm")) and "nav" not in n]
        return "\n".join(_TAG.sub(" ", archive.read(name).decode("utf-8", "replace")) for name in chapters)


EXTRACTORS: dict[str, Callable[[bytes], str]] = {
    ".html": html_text,
    ".htm": html_text,
    ".md": markdown_text,
    ".txt": lambda data: data.decode("utf-8", "replace"),
    ".docx": word_text,
    ".pptx": powerpoint_text,
    ".xlsx": excel_text,
    ".pdf": pdf_text,
    ".epub": epub_text,
}


def passages_of(path: Path) -> str | None:
    """The texts of the passages of a file, None if it is refused."""
    texts: list[str] = []
    for item in discover([str(path)]):
        read = item if isinstance(item, Problem) else parse_item(item, DEFAULT_LIMITS)
        if isinstance(read, Problem):
            return None
        texts += [chunk.text for graph in read for chunk in graph.chunks]
    return "\n".join(texts)


def lost(path: Path) -> tuple[int, Counter[str]] | None:
    """How many words a file has, and those that are in no passage; None if it is refused, also by the extractor."""
    found = passages_of(path)
    try:
        words = words_of(EXTRACTORS[path.suffix.lower()](path.read_bytes()))
    except Exception as error:  # other libraries refuse a file for one part
        print(f"{path.name}: {type(error).__name__}")
        return None
    if found is None:
        return None
    held = words_of(found)
    return words.total(), Counter({word: count for word, count in words.items() if word not in held})


def _files(folders: list[str], most: int) -> Iterator[Path]:
    taken: Counter[str] = Counter()
    for folder in folders:
        for path in sorted(Path(folder).rglob("*")):
            kind = path.suffix.lower()
            if kind in EXTRACTORS and path.is_file() and taken[kind] < most:
                taken[kind] += 1
                yield path


def main() -> None:
    """Print the figures of folders."""
    parser = command.Parser(
        __doc__,
        takes="minutes",
        packages=("beautifulsoup4", "lxml", "python-docx", "python-pptx", "openpyxl"),
    )
    parser.add_argument("folders", nargs="+", type=command.existing)
    parser.add_argument("--most", type=int, default=200, help="files of a format")
    parser.add_argument("--show", type=int, default=5, help="lost words to show of a format")
    options = parser.parse_args()
    total: Counter[str] = Counter()
    files: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    gone: dict[str, Counter[str]] = defaultdict(Counter)
    for path in _files(options.folders, options.most):
        kind = path.suffix.lower()
        result = lost(path)
        if result is None:
            refused[kind] += 1
            continue
        files[kind] += 1
        total[kind] += result[0]
        gone[kind] += result[1]
    for kind in sorted(files):
        share = 1_000 * gone[kind].total() / max(1, total[kind])
        most = ", ".join(word for word, _ in gone[kind].most_common(options.show))
        print(
            f"{kind:6} {files[kind]:4} files {refused[kind]:3} refused {total[kind]:9,} words"
            f" {share:7.2f} of 1,000 lost  {most}"
        )


if __name__ == "__main__":
    command.run(main)
