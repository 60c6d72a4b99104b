"""What a document says of its names: kinds, and relations between two of them. By patterns, which are meant to be right
rather than to find much: rows of tables, definitions, appositions, and nouns of kind ("painters such as X").
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from trivium.entities import cue_words as cues
from trivium.entities.capitals import singular
from trivium.graph.page_graph import Name, PageGraph, RelationEdge
from trivium.parser.tables import BETWEEN_CELLS, cells_of
from trivium.parser.text_runs import COLON
from trivium.text.normalise import sentences

Stated = Iterator[tuple[Name, str, Name]]  # source, type (empty for none), target
Kinds = dict[Name, str]
Described = tuple[list[list[Name]], list[RelationEdge]]
_LINE = re.compile(r"[^\n]+")
_BETWEEN_NAMES = re.compile(r"(?:[\s,&/.]|and\b|or\b|the\b)*")
_IN_PARENTHESES = re.compile(r" \([^()\n]{1,80}\)")
_VERB = re.compile(
    r"[\"”]? (?:\([^()\n]{1,90}\) )?(?P<copula>is|was|are|were) |[\"”]?, (?=(?:an?|the|his|her|its) )"
)
_WORD = re.compile(r"([a-z0-9][\w'’-]{0,24}|[A-Z][a-z]{2,12}(?:-[A-Z]?[a-z]{1,12})?)( |(?=[.,;)]|$))")
_NOUN = re.compile(
    r"(?:an?|the|his|her|its|one) (?:[\w'’-]{1,25} ){0,8}?([\w'’-]{1,25})(?:\.$| (?:of|in|at|by|for|from|to|on|with|and"
    r"|or|who|which|that|whose|where|when|based|located|born|directed|written|released|produced|founded|best|known"
    r"|featuring|starring|consisting|containing)\b)"
)
"""The noun of "an English chemist who ..."."""
_MOST_WORDS, _MOST_WORDS_OF_TYPE = 10, 6
_STOP = re.compile(r"[.;),]|$")
_END = re.compile(
    r"[\"”]?(?:[.;),]|$| \(| (?:and|or|from|in|who|that|which|where|when|during|as|by|with|on|at|for|to|until|since"
    r"|before|after|while|but|between|under)\b)"
)
"""What follows a name that is no part of a longer phrase."""
_SUCH_AS = re.compile(r"\b([a-z][a-z-]{1,20}?)(ies|s),? (?:such as|including) (?:the )?")
_NEXT_NAME = re.compile(r"(?:,? (?:and|or) |, )(?:the )?")
_NOUN_BEFORE = re.compile(
    r"\b(?:[Tt]he|an?|his|her|its|by) (?:[a-z-]{2,20} ){0,3}([a-z-]{3,20}) [\"“]?$"
    r"|\b[Tt]he (city|town|village|municipality|suburb|province|state|county|island|borough|township|commune) of $"
)
_ARTICLES = frozenset({"a", "an", "the", "his", "her", "its", "one"})
_PREPOSITIONS = frozenset({"of", "in", "at", "by", "for", "from", "to", "on", "with"})


def described(graph: PageGraph, names: Sequence[Sequence[Name]]) -> Described:
    """Return the ``names`` of each chunk of a page with the kinds that the text tells, and the relations that it states.
    One end is the page or a name that two chunks have: no relation joins what is only mentioned.
    """
    chunks = Counter(uri for own in names for uri in {name.uri for name in own})
    known = {graph.uri, *(uri for uri, count in chunks.items() if count > 1)}
    relations: dict[tuple[str, str, str], RelationEdge] = {}
    with_kinds = []
    for chunk, own in zip(graph.chunks, names, strict=True):
        text, kinds = chunk.body, Kinds()
        rows = [line.span() for line in _LINE.finditer(text)] if COLON in text else []
        places = [*((_row, place) for place in rows), *((_sentence, place) for place in sentences(text))]
        for stated, (start, end) in places if own else ():
            here = [name for name in own if start <= name.start and name.end <= end]
            for source, kind, target in stated(text, start, end, here, kinds):
                if kind and source.uri != target.uri and not known.isdisjoint((source.uri, target.uri)):
                    edge = RelationEdge(source.uri, kind, target.uri, chunk.uri, start, end)
                    relations.setdefault(edge.triple, edge)
        with_kinds.append([name._replace(kind=name.kind or kinds.get(name, "")) for name in own])
    return with_kinds, list(relations.values())


def _row(text: str, start: int, end: int, names: Sequence[Name], kinds: Kinds) -> Stated:
    """Yield the relations of a row to the name in its first cell. Names beside a post are people."""
    row, has_post = [], False
    for label, cell in cells_of(text[start:end]) if names else ():
        start += len(label) + len(COLON) if label else 0
        stop = start + len(cell)
        left = _IN_PARENTHESES.sub(lambda note: "/" * len(note[0]), text[start:stop])
        own = [n for n in names if start <= n.start < n.end <= stop and left[n.start - start] != "/"]
        for name in reversed(own):
            left = left[: name.start - start] + left[name.end - start :]
        row.append((label.lower(), own if _BETWEEN_NAMES.fullmatch(left) else []))
        post = re.split(r",| of | for ", cell[:80])[0].split()[-1:]
        has_post = has_post or (bool(post) and singular(post[0].lower()) in cues.ROLES)
        start = stop + len(BETWEEN_CELLS)
    for place, (label, own) in enumerate(row):
        if has_post and label in cues.LABELS_OF_PEOPLE:
            kinds.update(dict.fromkeys(own, "person"))
        noun = label.partition(" of ")[0].split()[-1:]
        if place and len(row[0][1]) == 1 and noun and singular(noun[0]) in cues.RELATIONS:
            yield from ((row[0][1][0], label, name) for name in own)


def _sentence(text: str, start: int, end: int, names: Sequence[Name], kinds: Kinds) -> Stated:
    """Yield the relations of names that are defined ("X is the capital of Y") or described after a comma."""
    if BETWEEN_CELLS in text[start:end]:
        return
    places = {name.start: name for name in names}
    for subject in names:
        verb = _VERB.match(text, subject.end, end)
        before = text[start : subject.start].strip(' "“*•-').lower()
        if verb is None or (verb["copula"] and before not in ("", "the") and not before.endswith(",")):
            continue
        words: list[str] = []
        position, target = verb.end(), None
        while target is None and len(words) < _MOST_WORDS and (word := _WORD.match(text, position, end)):
            if word[1][0].isupper() and not cues.PEOPLES.issuperset(word[1].lower().split("-")):
                break
            words.append(word[1])
            position = word.end()
            target = places.get(position)
        noun = _NOUN.match(" ".join(words) + "." * (_STOP.match(text, position, end) is not None))
        if noun and noun[1] in cues.KINDS_OF_NOUNS:
            kinds.setdefault(subject, cues.KINDS_OF_NOUNS[noun[1]])
        if target is not None and (_END if verb["copula"] else _STOP).match(text, target.end, end):
            yield subject, _relation(words, short=not verb["copula"]), target
    for match in _SUCH_AS.finditer(text, start, end):
        kind = cues.KINDS_OF_NOUNS.get(match[1] + ("y" if match[2] == "ies" else ""), "")
        name = places.get(match.end()) if kind else None
        while name is not None and _END.match(text, name.end, end):
            kinds.setdefault(name, kind)
            following = _NEXT_NAME.match(text, name.end, end)
            name = places.get(following.end()) if following else None
    for name in names:
        before_it = _NOUN_BEFORE.search(text, max(start, name.start - 60), name.start)
        if before_it is not None and _END.match(text, name.end, end):
            kind = "place" if before_it[2] else cues.KINDS_OF_NOUNS.get(before_it[1], "")
            if before_it[2] or kind in ("person", "work", "organisation"):
                kinds.setdefault(name, kind)


def _relation(words: Sequence[str], *, short: bool) -> str:
    """Return the words between two names without article, year and people: "capital of"; empty if they are no phrase that
    ends with a preposition. ``short`` after a comma, where it is one thing "of" the other.
    """
    kept = list(words[:-1] if words[-1] == "the" else words)
    while kept and (kept[0] in _ARTICLES or kept[0] == "of" or not kept[0].islower()):
        kept = kept[1:]
    if not 1 < len(kept) <= _MOST_WORDS_OF_TYPE or not cues.NO_RELATION.isdisjoint(kept):
        return ""
    if short and ("the" in kept or kept[-1] != "of" or kept[-2].endswith("s")):
        return ""
    return " ".join(kept) if kept[-1] in _PREPOSITIONS and all(map(str.islower, kept)) else ""
