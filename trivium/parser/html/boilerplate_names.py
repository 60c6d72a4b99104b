"""The names that pages give to boilerplate and to the text of an article, and the lines that speak to readers."""

from __future__ import annotations

import re
from functools import lru_cache

from selectolax.lexbor import LexborNode

MAX_NAMES = 1_000

_ARTICLES = frozenset(
    ["article", "artikel", "beitrag", "blog", "entry", "news", "noticia", "post", "recipe", "story"]
)
_TEXTS = frozenset(("body", "content", "copy", "detail", "inner", "paragraphs", "text"))
_NAMES = frozenset(
    """
    nav navigation navbar navi subnav submenu sidenav colophon masthead topbar toolbar search breadcrumb breadcrumbs
    pagination pager paginate prev nextpost prevpost nextstory postnav backlink toc skiplink edit updated lastupdated
    consent banner popup popmake modal paywall noprint shariff sociable likes signup nocomments disqus akismet jetpack jp
    outbrain taboola werbung yarpp trending textwidget widgets copyright copyrights postmetadata taglist
    """.split()  # noqa: SIM905
)
_BEGINNINGS = tuple(
    """
    related comment newsletter breadcrumb cookie sidebar footer social advert subscri sponsor promo share sharing
    kommentar comentari commentai komentar relacionad empfehl reklam publicid schlagwort autor auteur etiqueta compart
    anzeige verwandt
    """.split()  # noqa: SIM905
)
_NAMES_OF_ARTICLES = frozenset(
    """
    button btn embed embedded previous next login registration follow rating respond reply ad ads adv similar popular
    latest recent breaking recommended recommendations author bio byline vcard meta tags topics keyword keywords
    categories utility credit credits licence license disclaimer disclosure contact sources slider wishlist dateline
    subvert
    """.split()  # noqa: SIM905
)
_ENDS = ("menu", "nav", "sidebar", "footer", "comments", "newsletter", "navigation", "banner")
_NAMES_WITH_LINKS = frozenset(
    ["teaser", "teasers", "carousel", "slick", "swiper", "widget", "linklist", "linkbox", "more"]
)
_NAMES_OF_MUCH = re.compile("comment|respond|disqus|cookie|consent|gdpr|dsgvo|related|recommendations")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_TO_READERS = re.compile(
    r"\W{0,9}(?:"
    r"advert(?:isement|orial)|read (?:more|also|next|on)|(?:see|more) (?:from|on|in|stories|articles|news)"
    r"|(?:go )?back to|you (?:may|might) (?:also )?(?:like|enjoy)|leave a (?:comment|reply)|about the author"
    r"|(?:share|print|e-?mail|like) (?:this|on)|(?:follow|support|join|contact) us|sign up|subscribe|log ?in"
    r"|filed under|posted (?:in|by)|categor(?:y|ies)\W|tags?\W|\d{1,3}[ -]min(?:ute)?s?\b"
    r"|anzeige|werbung|mehr (?:zum|aus|von|zu)|(?:zum|das) (?:könnte|thema)|lesen sie|lies auch|weiterlesen"
    r"|weitere (?:artikel|beiträge|meldungen|themen|news)|zurück zu|über (?:den autor|die autorin)"
    r"|(?:seite|artikel|beitrag|jetzt) (?:teilen|drucken|bewerten|abonnieren)|kommentar (?:schreiben|hinterlassen)"
    r"|folgen? sie|folge uns|unterstütze|kategorien?\W|schlagw|aufrufe"
    r"|lire aussi|à lire|en savoir plus|voir aussi|partager|publicité"
    r"|ver también|puedes? ver|leer también|te puede|s[ií]guenos|publicidad|leggi anche|condividi|pubblicità"
    r"|czytaj|zobacz|reklama|lees ook|läs (?:mer|också)|les også)",
    re.IGNORECASE,
)
"""Lines that speak to the readers of a page, or label what is beside its text."""
_LINE_TO_READERS = 60
"""Maximum number of characters of such a line, without white space."""


def is_article_text(node: LexborNode) -> bool:
    """Whether an element is named like the text of an article."""
    attributes = node.attributes
    if attributes.get("itemprop") == "articleBody":
        return True
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"[:MAX_NAMES]
    return any(
        not (words := _words(name)).isdisjoint(_ARTICLES)
        and (len(words) == 1 or not words.isdisjoint(_TEXTS))
        for name in names.split()
    )


@lru_cache(maxsize=1 << 12)
def _words(names: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(names))


@lru_cache(maxsize=1 << 12)
def is_boilerplate_name(names: str, *, article: bool, large: bool, links: bool) -> bool:
    """Whether these are names of boilerplate."""
    words = _words(names)
    if large:
        return any(map(_NAMES_OF_MUCH.match, words))
    if not words.isdisjoint(_NAMES) or any(w.startswith(_BEGINNINGS) or w.endswith(_ENDS) for w in words):
        return True
    # On other pages than articles, contacts and authors may be content.
    return ((article or links) and not words.isdisjoint(_NAMES_OF_ARTICLES)) or (
        links and not words.isdisjoint(_NAMES_WITH_LINKS) and "elementor" not in words
    )


def speaks_to_readers(text: str, length: int) -> bool:
    """Whether a line of ``length`` characters without white space speaks to the readers of a page, or labels what is
    beside its text.
    """
    return 0 < length <= _LINE_TO_READERS and _TO_READERS.match(text) is not None
