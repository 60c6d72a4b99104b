"""The same article in every wrapping gives the same page."""

from __future__ import annotations

import pytest

from trivium.parser.html import parse_html

TEXT = "Lead about the Sun.\n\nOrbit\n\nIt goes round.\n\nMoons\n\nPhobos\nDeimos"
OLD = (
    '<p>Lead about the <a href="{wiki}Sun">Sun</a>.</p>'
    '<div id="toc" class="toc"><h2>Contents</h2><ul><li>1 Orbit</ul></div>'
    '<h2><span class="mw-headline" id="Orbit">Orbit</span><span class="mw-editsection">[edit]</span></h2>'
    '<p>It goes round.</p><h3><span class="mw-headline">Moons</span></h3><ul><li>Phobos</li>'
    "<li>Deimos</li></ul>"
)
NEW = (
    '<p>Lead about the <a href="/wiki/Sun">Sun</a>.</p>'
    '<div class="mw-heading mw-heading2"><h2 id="Orbit">Orbit</h2>'
    '<span class="mw-editsection">[edit]</span></div>'
    '<p>It goes round.</p><div class="mw-heading mw-heading3"><h3 id="Moons">Moons</h3></div>'
    "<ul><li>Phobos</li><li>Deimos</li></ul>"
)
VECTOR_2020 = (
    '<html><head><title>Mars - Wikipedia</title></head><body><div id="mw-page-base" class="noprint"></div>'
    '<div id="content" role="main"><h1 id="firstHeading">Mars</h1><div id="bodyContent">'
    '<div id="siteSub">From W</div>'
    f'<div id="mw-content-text"><div class="mw-parser-output">{OLD.format(wiki="/wiki/")}</div>'
    '<noscript>tracker</noscript><div class="printfooter">Retrieved</div></div>'
    '<div id="catlinks">Categories</div>'
    '</div></div><div id="mw-navigation"><h2>Navigation menu</h2><ul><li>Talk</ul></div></body></html>'
)
NQ_2018 = (
    '<!DOCTYPE html>\n<HTML class="client-js" lang="en"><HEAD><TITLE>Mars - Wikipedia</TITLE>'
    '<LINK rel="canonical" href="https://en.wikipedia.org/wiki/Mars" /></HEAD><BODY>'
    '<H1 id="firstHeading" class="firstHeading">Mars</H1><DIV id="bodyContent">'
    '<DIV id="jump-to-nav">Jump</DIV>'
    '<DIV id="mw-content-text"><DIV class="mw-parser-output"><P>Lead about the '
    '<A href="https://en.wikipedia.org/wiki/Sun" title="Sun">Sun</A>.</P><H2>'
    '<SPAN class="mw-headline">Orbit</SPAN></H2>'
    "<P>It goes round.</P><H3><SPAN class='mw-headline'>Moons</SPAN></H3><UL><LI>Phobos</LI>"
    "<LI>Deimos</LI></UL>"
    "</DIV></DIV></DIV></BODY></HTML>"
)
PARSOID = (
    '<html prefix="mw: http://mediawiki.org/rdf/"><head><base href="//en.wikipedia.org/wiki/">'
    "<title>Mars</title>"
    '<link rel="dc:isVersionOf" href="//en.wikipedia.org/wiki/Mars"></head>'
    '<body class="mw-body-content parsoid-body">'
    '<section data-mw-section-id="0"><p>Lead about the <a rel="mw:WikiLink" href="./Sun">Sun</a>.'
    "</p></section>"
    '<section data-mw-section-id="1"><h2 id="Orbit">Orbit</h2><p>It goes round.</p>'
    '<section data-mw-section-id="2"><h3 id="Moons">Moons</h3><ul><li>Phobos</li><li>Deimos</li>'
    "</ul></section>"
    "</section></body></html>"
)
VECTOR_2022 = (
    '<html><head><title>Mars - Wikipedia</title></head><body><div class="vector-header-container">'
    "<header>Menu</header>"
    '</div><main id="content" class="mw-body"><header><h1 id="firstHeading">Mars</h1></header>'
    '<div class="mw-indicators"><div class="mw-indicator"><div class="mw-parser-output">Featured'
    "</div></div></div>"
    '<div id="bodyContent"><div id="mw-content-text" class="mw-body-content">'
    '<div class="mw-content-ltr mw-parser-output">'
    f"{NEW}</div></div></div></main></body></html>"
)
MINERVA = (
    '<html><head><title>Mars - Wikipedia</title></head><body class="skin-minerva"><main>'
    '<div class="pre-content">'
    '<h1 id="firstHeading">Mars</h1></div><div id="bodyContent" class="content"><div id="mw-content-text">'
    '<div class="mw-parser-output"><section class="mf-section-0" id="mf-section-0"><p>Lead about the '
    '<a href="/wiki/Sun">Sun</a>.</p></section><h2 class="section-heading"><div class="indicator"></div>'
    '<span class="mw-headline">Orbit</span></h2><section class="mf-section-1 collapsible-block">'
    "<p>It goes round.</p>"
    '<h3 class="in-block"><span class="mw-headline">Moons</span></h3><ul><li>Phobos</li><li>Deimos'
    "</li></ul></section>"
    "</div></div></div></main><footer>Last edited</footer></body></html>"
)
PLAIN = (
    "<html><head><title>Mars</title></head><body><nav>Home</nav><main><h1>Mars</h1>"
    '<p>Lead about the <a href="/wiki/Sun">Sun</a>.</p><h2>Orbit</h2><p>It goes round.</p><h3>Moons</h3>'
    "<ul><li>Phobos<li>Deimos</ul></main><footer>Contact</footer></body></html>"
)
SKINS: dict[str, str] = {
    "vector 2020": VECTOR_2020,
    "natural questions": NQ_2018,
    "parsoid": PARSOID,
    "api fragment": f'<div class="mw-parser-output">{OLD.format(wiki="/wiki/")}</div>',
    "new api fragment": f'<div class="mw-content-ltr mw-parser-output">{NEW}</div>',
    "saved from a browser": VECTOR_2020.replace('"/wiki/', '"https://en.wikipedia.org/wiki/'),
    "vector 2022": VECTOR_2022,
    "mobile": MINERVA,
    "plain": PLAIN,
    "article element": PLAIN.replace("main>", "article>"),
    "body only": PLAIN.replace("<main>", "").replace("</main>", ""),
}


@pytest.mark.parametrize("html", SKINS.values(), ids=SKINS)
def test_every_skin_gives_the_same_page(html: str) -> None:
    """Text, section tree and links are those of the article, nothing of the wrapping."""
    page = parse_html(html, title="Mars")
    assert page.title == "Mars"
    assert page.text == TEXT
    assert [(s.heading, s.level, s.parent) for s in page.sections] == [("Orbit", 1, None), ("Moons", 2, 0)]
    assert [chunk.kind for _, chunk in page.all_chunks()] == ["paragraph", "paragraph", "list"]
    assert [link.target for link in page.chunks[0].links] == ["Sun"]


@pytest.mark.parametrize("container", ["<article>{}</article>", '<div class="mw-parser-output">{}</div>'])
def test_several_articles_on_one_page_are_all_read(container: str) -> None:
    """There is no single one to pick; nothing may be lost."""
    page = parse_html("<title>T</title>" + container.format("<p>one</p>") + container.format("<p>two</p>"))
    assert page.text == "one\n\ntwo"
