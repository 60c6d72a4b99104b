"""Names found in running text against the hyperlinks of Wikipedia's pages.

Usage: python -m experiments.names.against_links --data FOLDER [--recogniser rules] [--half tune|report|all] [--pages N]
       [--sample N] [--mistakes N]
       python -m experiments.names.against_links --stated STORE [--half tune|report|all] [--sample N]

FOLDER has pages as HTML or Markdown. The truth are links whose text looks like a name: every longer word has a capital,
and the link does not stand at the beginning of a sentence. Only the first mention on a page is a link there, so what is
found beside the links is not wrong; it counts as attested if its text is the text or the target of a link of any page.
``--sample`` prints names at random with what surrounds them, for the eye; ``--mistakes`` links that were missed or cut.
``--stated`` counts the relations and kinds that the texts of a store with names tell, and prints some of each.
"""

from __future__ import annotations

import hashlib
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from experiments import command
from trivium.engine import Engine
from trivium.entities.recogniser import NamedSpan, load_recogniser
from trivium.entities.relations import described
from trivium.errors import InputError
from trivium.parser.sources.discover import discover, read
from trivium.parser.sources.source_items import LeftOut, Problem
from trivium.settings.limits import DEFAULT_LIMITS
from trivium.text.headings_in_passages import with_headings
from trivium.text.languages import detect_language
from trivium.text.normalise import normalise_name, sentences
from trivium.types import Chunk, ChunkKind, Page

HALVES = ("tune", "report", "all")
_WORD = re.compile(r"[^\W\d_]+")
_LONG = 4
AROUND = 40


def half_of(name: str) -> str:
    """The half to which a page belongs, by the hash of its file's name."""
    return "tune" if hashlib.sha256(name.encode()).digest()[0] % 2 == 0 else "report"


def pages_in(folder: Path, half: str, most: int | None) -> list[Page]:
    pages: list[Page] = []
    for item in discover([str(folder)]):
        if isinstance(item, Problem | LeftOut) or half not in ("all", half_of(Path(item.name).name)):
            continue
        pages += [with_headings(page) for page in read(item, DEFAULT_LIMITS)]
        if len(pages) == most:
            break
    return pages


def print_stated(store: str, half: str, sample: int, seed: int) -> None:
    """Print how many relations and kinds the pages of a store state, and some of them."""
    relations: dict[tuple[str, str, str], str] = {}
    kinds: list[str] = []
    names = told = 0
    with Engine.open(store) as engine:
        for page in engine.store.page_graphs():
            if half not in ("all", half_of(page.uri)):
                continue
            bodies = {chunk.uri: chunk.body for chunk in page.chunks}
            for edge in page.relations:
                if edge.chunk:
                    relations.setdefault(edge.triple, bodies[edge.chunk][edge.start : edge.end])
            alone = [[name._replace(kind="") for name in chunk.names] for chunk in page.chunks]
            names += sum(map(len, alone))
            told += sum(bool(name.kind) for chunk in page.chunks for name in chunk.names)
            for chunk, own in zip(page.chunks, described(page, alone)[0], strict=True):
                around = (chunk.body[max(0, one.start - 2 * AROUND) : one.end + 2 * AROUND] for one in own)
                kinds += [
                    f"{one.uri}: {one.kind} << {said}"
                    for one, said in zip(own, around, strict=True)
                    if one.kind
                ]
        graph, types = engine.store.adjacency(), engine.store.types()
    degrees = np.diff(graph.indptr[len(graph.chunks) :])
    print(f"{len(relations)} relations of {len({kind for _, kind, _ in relations})} types")
    print(f"{len(degrees)} entities, {np.count_nonzero(degrees == 0)} by relations alone")
    print(
        f"{names} names, {told} with a kind, {len(kinds)} told by the text; {len(types)} entities with a kind"
    )
    chosen = random.Random(seed)
    stated = [f"{' | '.join(triple)} << {said}" for triple, said in relations.items()]
    for lines in (stated, kinds):
        print()
        for line in chosen.sample(lines, min(sample, len(lines))):
            print(" ".join(line.split()))


def passages_of(page: Page) -> list[Chunk]:
    """The passages of a page, without code."""
    chunks = [*page.chunks, *(chunk for section in page.sections for chunk in section.chunks)]
    return [chunk for chunk in chunks if chunk.kind is not ChunkKind.CODE]


def looks_like_name(anchor: str) -> bool:
    """Whether the text of a link begins with a capital, and has capitals in all longer words."""
    words = _WORD.findall(anchor)
    return bool(words) and words[0][0].isupper() and all(w[0].isupper() for w in words if len(w) >= _LONG)


def named_links(chunk: Chunk) -> Iterator[tuple[int, int, str]]:
    """The links of a passage that look like names: their characters in it, and their targets."""
    begins = {start for start, _ in sentences(chunk.text)}
    for link in chunk.links:
        start, end = link.start - chunk.start, link.end - chunk.start
        if (
            0 <= start < end <= len(chunk.text)
            and start not in begins
            and looks_like_name(chunk.text[start:end])
        ):
            yield start, end, link.target


@dataclass
class Counts:
    """What was found of one kind of passage."""

    links: int = 0
    exact: int = 0
    within: int = 0
    names: int = 0
    over_links: int = 0
    over_exactly: int = 0
    attested: int = 0
    kinds: Counter[str] = field(default_factory=Counter)

    def count(self, links: Sequence[tuple[int, int, str]], spans: Sequence[NamedSpan]) -> None:
        found = {(span.start, span.end) for span in spans}
        self.links += len(links)
        self.names += len(spans)
        self.exact += sum((start, end) in found for start, end, _ in links)
        self.within += sum(any(s < end and start < e for s, e in found) for start, end, _ in links)
        at = {(start, end) for start, end, _ in links}
        self.over_links += sum(any(s < end and start < e for s, e in at) for start, end in found)
        self.over_exactly += len(found & at)
        self.kinds.update(span.kind for span in spans)

    def row(self, name: str) -> str:
        def share(part: int, whole: int) -> str:
            return f"{part / whole:.3f}" if whole else ""

        return (
            f"| {name} | {self.links} | {share(self.exact, self.links)} | {share(self.within, self.links)} "
            f"| {self.names} | {share(self.over_exactly, self.over_links)} | {share(self.attested, self.names)} |"
        )


def main(given: Sequence[str] | None = None) -> None:
    arguments = command.Parser(__doc__, takes="minutes")
    what = arguments.add_mutually_exclusive_group(required=True)
    what.add_argument("--data", type=command.existing)
    what.add_argument("--stated", type=command.store, metavar="STORE")
    arguments.add_argument("--recogniser", default="rules")
    arguments.add_argument("--half", choices=HALVES, default="all")
    arguments.add_argument("--pages", type=int)
    arguments.add_argument("--sample", type=int, default=0)
    arguments.add_argument("--mistakes", type=int, default=0)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args(given)
    if options.stated is not None:
        print_stated(options.stated, options.half, options.sample, options.seed)
        return
    recogniser = load_recogniser(options.recogniser)
    pages = pages_in(options.data, options.half, options.pages)
    if not pages:
        raise InputError(f"expected pages in {options.data}, found none")
    known: set[str] = set()
    for page in pages:
        known.add(normalise_name(page.title))
        for chunk in passages_of(page):
            for start, end, target in named_links(chunk):
                known |= {normalise_name(chunk.text[start:end]), normalise_name(target)}
    by_kind: dict[str, Counts] = {}
    sample: list[str] = []
    mistakes: list[str] = []
    words, seconds = 0, 0.0
    for page in pages:
        passages = passages_of(page)
        texts = [chunk.text for chunk in passages]
        begun = time.process_time()
        found = recogniser.spans(texts, detect_language(page.text) or "")
        seconds += time.process_time() - begun
        words += sum(len(text.split()) for text in texts)
        for chunk, spans in zip(passages, found, strict=True):
            text, links = chunk.text, list(named_links(chunk))
            kind = str(chunk.kind.value)
            counts = by_kind.setdefault(kind, Counts())
            counts.count(links, spans)
            counts.attested += sum(normalise_name(text[s.start : s.end]) in known for s in spans)
            for start, end, named in spans:
                before, after = text[max(0, start - AROUND) : start], text[end : end + AROUND]
                sample.append(f"{page.title}: {before}[[{text[start:end]}]]{after}  {named}")
            for start, end, _ in links:
                if not any((span.start, span.end) == (start, end) for span in spans):
                    over = [text[s.start : s.end] for s in spans if s.start < end and start < s.end]
                    before, after = text[max(0, start - AROUND) : start], text[end : end + AROUND]
                    mistakes.append(
                        f"{kind} {page.title}: {before}[[{text[start:end]}]]{after}  found {over}"
                    )
    total = Counts()
    for counts in by_kind.values():
        for name in ("links", "exact", "within", "names", "over_links", "over_exactly", "attested"):
            setattr(total, name, getattr(total, name) + getattr(counts, name))
        total.kinds.update(counts.kinds)
    print(f"{len(pages)} pages, {words} words, {1e5 * seconds / max(words, 1):.3f} ms for 100 words\n")
    print(
        "| passages | links | found exactly | found in part | names | of those over links: exact | attested |"
    )
    print("|---|---|---|---|---|---|---|")
    for kind, counts in sorted(by_kind.items()):
        print(counts.row(kind))
    print(total.row("all"))
    print("\nkinds:", ", ".join(f"{kind or 'none'} {count}" for kind, count in total.kinds.most_common()))
    chosen = random.Random(options.seed)
    for lines, many in ((sample, options.sample), (mistakes, options.mistakes)):
        if many:
            print()
        for line in chosen.sample(lines, min(many, len(lines))):
            print(" ".join(line.split()))


if __name__ == "__main__":
    command.run(main)
