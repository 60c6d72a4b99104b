"""What is left out of the chunks, and what only looks as if it should be."""

from __future__ import annotations

import pytest

from trivium.parser.html import parse_html

LEFT_OUT = {
    "navigation box": '<div class="navbox">GONE</div>',
    "navigation table": '<table class="navbox"><tr><td>GONE</table>',
    "side bar": '<table class="vertical-navbox nowraplinks"><tr><th>GONE</table>',
    "new side bar": '<table class="sidebar"><tr><th>GONE</table>',
    "navigation role": '<div role="navigation">GONE</div>',
    "nav element": "<nav>GONE</nav>",
    "succession box": '<table class="wikitable succession-box"><tr><td>GONE</table>',
    "authority control": '<div class="authority-control">GONE</div>',
    "footnotes": '<div class="reflist"><ol class="references"><li>GONE</ol></div>',
    "bare footnotes": '<ol class="references"><li>GONE</ol>',
    "wrapped footnotes": '<div class="mw-references-wrap"><ol class="references"><li>GONE</ol></div>',
    "footnote mark": '<p>x<sup class="reference" id="cite_ref-1"><a href="#n">[GONE]</a></sup></p>',
    "contents": '<div id="toc" class="toc"><h2>GONE</h2><ul><li>GONE</ul></div>',
    "hatnote": '<div role="note" class="hatnote navigation-not-searchable">GONE '
    '<a href="/wiki/X">GONE</a></div>',
    "old hatnote": '<div class="dablink">GONE</div>',
    "maintenance box": '<table class="box-Cleanup plainlinks metadata ambox"><tr><td>GONE</table>',
    "citation needed": '<p>x<sup class="noprint Inline-Template">[<i>GONE</i>]</sup></p>',
    "as of": "<p>x"
    '<sup class="plainlinks noexcerpt noprint asof-tag update" style="display:none;">[GONE]</sup></p>',
    "sister project": '<table class="mbox-small plainlinks sistersitebox"><tr><td>GONE</table>',
    "portal": '<div class="noprint portal plainlist tright">GONE</div>',
    "hidden": '<p>x<span style="DISPLAY : none">GONE</span></p>',
    "hidden attribute": "<p>x<span hidden>GONE</span></p>",
    "hidden row": '<table class="infobox"><tr style="display:none"><td>GONE</td></tr><tr><td>x</td>'
    "</tr></table>",
    "short description": '<div class="shortdescription nomobile noprint">GONE</div>',
    "script": "<script>GONE</script><style>GONE</style><noscript>GONE</noscript>",
    "coordinates of the page": '<span id="coordinates">GONE</span>',
    "second form of coordinates": '<p>x<span class="geo-multi-punct">/</span>'
    '<span class="geo-nondefault">GONE</span></p>',
    "player": '<div><video>GONE</video><audio>GONE</audio><span class="mw-tmh-playtext">GONE</span></div>',
    "print footer": '<div class="printfooter">GONE</div>',
    "categories": '<div id="catlinks" class="catlinks">GONE</div>',
    "jump link": '<div class="mw-jump">GONE</div>',
    "edit link": '<h2>H<span class="mw-editsection">[GONE]</span></h2>',
    "magnifying glass": '<div class="magnify">GONE</div>',
    "comment": "<p>x<!-- GONE --></p>",
}
KEPT = {
    "age of a person": '<p>born 1955<span class="noprint ForceAgeToShow"> (age&nbsp;64)</span> KEPT</p>',
    "superscript": "<p>KEPT m<sup>2</sup></p>",
    "collapsed list": '<div class="NavFrame collapsed"><div class="NavContent">KEPT</div></div>',
    "hidden until found": '<div hidden="until-found"><p>KEPT</p></div>',
    "pronunciation": '<p><span class="nowrap" role="note">KEPT</span></p>',
    "bibliography": '<div class="refbegin"><ul><li>KEPT</ul></div>',
    "coordinates": '<p><span class="geo-default">KEPT</span></p>',
    "columns": '<div class="div-col columns"><ul><li>KEPT</ul></div>',
    "citation in text": '<p><cite class="citation book">KEPT</cite></p>',
}


@pytest.mark.parametrize("html", LEFT_OUT.values(), ids=LEFT_OUT)
def test_it_is_left_out(html: str) -> None:
    """Neither its words nor its links are anywhere on the page, and what surrounds it is."""
    page = parse_html(f'<title>T</title><div id="mw-content-text"><p>before</p>{html}<p>after</p></div>')
    assert "GONE" not in page.text
    assert not any(chunk.links for _, chunk in page.all_chunks())
    texts = [chunk.text for _, chunk in page.all_chunks()]
    assert texts[0] == "before"
    assert texts[-1] == "after"


@pytest.mark.parametrize("html", KEPT.values(), ids=KEPT)
def test_it_is_kept(html: str) -> None:
    """Content that shares a class or a look with what is left out."""
    page = parse_html(f'<title>T</title><div id="mw-content-text">{html}</div>')
    assert "KEPT" in page.text and ("born" not in html or page.text == "born 1955 (age 64) KEPT")
