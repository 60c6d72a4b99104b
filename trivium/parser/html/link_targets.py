"""Resolves an ``href`` to the title of an article, or to the address of a file.

Only the address is used, never the ``title`` attribute of the anchor, which editors and skins may set to anything.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import parse_qs, unquote

from trivium.parser.text_runs import Address
from trivium.text.normalise import normalise_title

MAX_TITLE_BYTES = 255  # MediaWiki's own limit for a title
_MAX_CACHED_HREF = 400  # characters; malicious addresses of megabytes must not be kept in the cache

# Namespaces by their canonical English names, which every MediaWiki accepts, and by the local names of the larger
# Wikipedias. https://www.mediawiki.org/wiki/Help:Namespaces
_NAMESPACE_NAMES = """
    media special user wikipedia project wp file image mediawiki template help category portal book draft
    module timedtext gadget topic education_program gadget_definition
    spezial datei bild benutzer vorlage hilfe kategorie
    spécial fichier utilisateur modèle aide catégorie portail wikipédia projet
    especial archivo usuario plantilla ayuda categoría
    speciale immagine utente aiuto categoria portale progetto
    speciaal bestand gebruiker sjabloon categorie portaal
    ficheiro predefinição ajuda
"""
_NAMESPACES = frozenset(name.replace("_", " ") for name in _NAMESPACE_NAMES.split())
_TALK = frozenset(("talk", "diskussion", "discussion", "discusión", "discussione", "overleg", "discussão"))

# The common case, which needs no decoding or normalisation.
_PLAIN = re.compile(r"/wiki/([A-Z0-9](?:_?[A-Za-z0-9(),.'-]){0,200})")
_ADDRESS = re.compile(r"(?:https?:)?//([^/?#]+)(/[^#]*)?", re.IGNORECASE)
_SCRIPT = re.compile(r"/(?:w/)?index\.php\?(.*)")
_WIKIPEDIA = re.compile(r"[a-z-]+\.wikipedia\.org")
_MAX_ADDRESS = 1_000
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_MOBILE = re.compile(r"\.m\.(?=[^.]+\.[^.]+$)")


def canonical_host(host: str) -> str:
    """Return the host without its mobile label: ``en.m.wikipedia.org`` -> ``en.wikipedia.org``."""
    return _MOBILE.sub(".", host.lower())


def first_upper(title: str) -> str:
    """Capitalise the first letter as MediaWiki does: a letter whose capital form has two letters is unchanged."""
    upper = title[:1].upper()
    if len(upper) != 1 or "\u10d0" <= title[0] <= "\u10ff":  # ß; Georgian has no titlecase in MediaWiki
        return title
    return upper + title[1:]


def article_title(name: str) -> str | None:
    """Return the article title of a decoded page name; None if it is empty, too long or in another namespace."""
    title = normalise_title(name)
    if ":" in title:
        prefix = title.lstrip(": ").split(":", 1)[0].strip().lower()
        if prefix in _NAMESPACES or prefix in _TALK or prefix.split(" ")[-1] in _TALK:
            return None
        title = title.lstrip(": ")
    if not title or len(title.encode("utf-8", "replace")) > MAX_TITLE_BYTES:
        return None
    return first_upper(title)


def link_target(href: str, host: str | None) -> str | None:
    """Return the title of the article that ``href`` links to, without fragment; None for any other target.

    ``host`` is the site of the page; without it, absolute addresses of any Wikipedia are accepted. Red links
    (``?title=...&redlink=1``), to articles that do not exist yet, are resolved, too.

    >>> link_target("/wiki/Alan_Turing#Legacy", None)
    'Alan Turing'
    >>> link_target("/wiki/File:Turing.jpg", None) is None
    True
    """
    if href.startswith("#"):
        return None
    if len(href) > _MAX_CACHED_HREF:
        return _resolve(href, host)
    return _resolve_cached(href, host)


def _resolve(href: str, host: str | None) -> str | None:
    plain = _PLAIN.fullmatch(href)
    if plain is not None:
        return plain[1].replace("_", " ")
    path = href
    if not href.startswith(("/wiki/", "./")):
        address = _ADDRESS.match(href)
        if address is not None:
            site = canonical_host(address[1])
            if site != host and (host is not None or not _WIKIPEDIA.fullmatch(site)):
                return None
            path = address[2] or ""
    path = path.partition("#")[0]
    if path.startswith("/wiki/"):
        name = path[6:]
    elif path.startswith("./"):
        name = path[2:]
    else:
        script = _SCRIPT.match(path)
        return None if script is None else _script_title(script[1])
    name, _, query = name.partition("?")
    if query and "redlink=1" not in query and ("action=" in query or "oldid=" in query or "diff=" in query):
        return None
    return article_title(unquote(name))


_resolve_cached = lru_cache(maxsize=1 << 16)(_resolve)


def _script_title(query: str) -> str | None:
    fields = parse_qs(query)
    title = fields.get("title")
    if title is None:
        return None
    if fields.get("redlink") == ["1"] or not fields.keys() & {"action", "oldid", "diff", "printable"}:
        return article_title(title[0])
    return None


def local_address(href: str) -> Address | None:
    """Return an address that leads to another file next to this one, or None.

    >>> local_address("../setup.md#linux"), local_address("https://example.org/"), local_address("#top")
    ('../setup.md#linux', None, None)
    """
    address = href.strip()
    if not address or len(address) > _MAX_ADDRESS or address.startswith(("#", "//", "?", "\\\\")):
        return None
    return None if _SCHEME.match(address) else Address(address)
