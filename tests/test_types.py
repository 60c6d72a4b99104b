"""What notebooks and terminals show of hits and answers; texts from outside stay texts."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from trivium.types import Answer, Citation, Hit

HOSTILE = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\r\x00")) | st.sampled_from(
    ["</bdi><script>alert(1)</script>", "<img src=x onerror=y>", '" onmouseover="z', "&lt;b&gt;", "<!--"]
)


class _Seen(HTMLParser):
    """The tags with their attributes, and the text between them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[object] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append((tag, attrs))

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(tag)

    def handle_comment(self, data: str) -> None:
        self.tags.append(data)

    def handle_data(self, data: str) -> None:
        self.text += data


def hit(text: str) -> Hit:
    return Hit(text, text, 1.5, 1, text, text, "paragraph", 0, 9, contributions={text: 0.25}, probability=0.8)


def answer(text: str) -> Answer:
    citations = (Citation(2, text, text, text, 0, 9),)
    return Answer(text, text, text, True, (), citations, (hit(text),))


@given(HOSTILE)
def test_no_text_becomes_markup_in_a_notebook(text: str) -> None:
    """Whatever a document, a question or a model says: the tags are ours, and the text can be read in full."""
    for make in (hit, answer):
        shown, harmless = _Seen(make(text)._repr_html_()), _Seen(make("x")._repr_html_())
        assert shown.tags == harmless.tags
        assert text in shown.text


def test_a_hit_shows_its_rank_place_probability_and_contributions() -> None:
    """The probability only where there is one."""
    text = _Seen(hit("Mars")._repr_html_()).text
    assert text == "1. Mars Mars (80% likely to answer)MarsMars +0.250"
    plain = Hit("Mars#1", "Red.", 0.5, 2, "Mars", "Mars", "paragraph", 0, 4)
    assert _Seen(plain._repr_html_()).text == "2. Mars Mars#1Red."


def test_an_answer_is_printed_as_its_text() -> None:
    """In a notebook with the passages it cites, by their numbers."""
    given = answer("Two moons [2].")
    assert str(given) == "Two moons [2]."
    assert ("li", [("value", "2")]) in _Seen(given._repr_html_()).tags
