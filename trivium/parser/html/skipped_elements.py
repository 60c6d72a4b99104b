"""Recognises elements that are not text of the article: navigation, references, maintenance notes, duplicates."""

from __future__ import annotations

import re
from functools import lru_cache

# Elements whose content is never visible article text.
_TAGS = """
    script style link meta head title noscript template svg canvas audio video object embed iframe map img
    input button select textarea nav footer rp col colgroup wbr progress meter dialog
"""
SKIPPED_TAGS = frozenset(_TAGS.split())

_CLASSES = """
    navbox navbox-styles vertical-navbox sidebar navbar succession-box subjectbar authority-control
    mw-authority-control portal portalbox portal-bar sistersitebox side-box catlinks mw-hidden-catlinks
    toc mw-table-of-contents vector-toc
    linenos linenodiv lineno
    reference mw-ref mw-references mw-references-wrap references mw-cite-backlink mw-ext-cite-error harv-error
    cs1-hidden-error cs1-maint citation-comment Z3988
    mw-editsection mw-editsection-like mw-editsection-bracket
    hatnote dablink rellink mw-redirectedfrom
    ambox tmbox ombox cmbox fmbox imbox mbox-small metadata asbox Inline-Template asof-tag
    shortdescription printfooter mw-jump mw-jump-link mw-indicators
    mw-collapsible-toggle magnify play-btn-large mw-tmh-playtext PopUpMediaTransform
    geo-nondefault geo-multi-punct infobox-journal-search
    mw-empty-elt sr-only visually-hidden
"""
_SKIPPED_CLASSES = frozenset(_CLASSES.split())
_SKIPPED_IDS = frozenset(
    ("toc", "siteSub", "contentSub", "jump-to-nav", "coordinates", "catlinks", "siteNotice")
)
_SKIPPED_ROLES = frozenset(("navigation", "banner", "contentinfo", "search", "doc-endnotes"))
_HIDDEN = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_STRUCK = re.compile(r"text-decoration(?:-line)?\s{0,9}:[^;]{0,80}?line-through", re.IGNORECASE)


_PLACES = frozenset(("td", "th", "li"))
"""Elements that keep their place in a row or list when their text is struck through."""
_MAX_CACHED_CLASS = 400  # characters; a malicious attribute of megabytes must not be kept in the cache


def _skipped_class(value: str, tag: str | None) -> bool:
    names = value.split()
    if not _SKIPPED_CLASSES.isdisjoint(names):
        return True
    # A bibliography (refbegin) is article text, even when it is laid out with the class of a reference list.
    if "reflist" in names and "refbegin" not in names:
        return True
    # Ages are in noprint spans ("; 62 years ago"); larger noprint elements are screen controls.
    return "noprint" in names and tag != "span"


_skipped_class_cached = lru_cache(maxsize=1 << 12)(_skipped_class)


def is_struck(attributes: dict[str, str | None]) -> bool:
    """Whether the style of an element strikes its text through."""
    return _STRUCK.search(attributes.get("style") or "") is not None


def is_skipped(attributes: dict[str, str | None], tag: str | None) -> bool:
    """Whether an element with these attributes is skipped with all its content."""
    if not attributes:
        return False
    value = attributes.get("class")
    if value is not None:
        skipped = _skipped_class_cached if len(value) <= _MAX_CACHED_CLASS else _skipped_class
        if skipped(value, tag):
            return True
        if len(attributes) == 1:
            return False
    style = attributes.get("style")
    if style is not None and (
        _HIDDEN.search(style) is not None or (tag not in _PLACES and is_struck(attributes))
    ):
        return True
    if attributes.get("role") in _SKIPPED_ROLES or attributes.get("id") in _SKIPPED_IDS:
        return True
    # "until-found" is content that a mobile skin has collapsed.
    return "hidden" in attributes and attributes["hidden"] != "until-found"
