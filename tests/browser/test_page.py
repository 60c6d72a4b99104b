"""The page in a real browser: ask, read, follow a citation, switch a view off, see the graph; with the mouse and without,
on a desk and on a phone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from tests.browser.chrome import dark_mode, soon, wide
from tests.pictures import drawn
from tests.server.world import QUESTION, Script, listening
from trivium.engine import Engine
from trivium.retrievers.registry import RETRIEVERS
from trivium.sample import pages_folder
from trivium.server.settings import ServerSettings

PAGES = ("Mars", "Phobos_(moon)", "Deimos_(moon)", "Asaph_Hall")
HOSTILE = "<img src=http://127.0.0.1:9/x onerror=\"document.title='hostile'\"><script>document.title='hostile'</script>"
PIECES = ("Asaph Hall found both of them [1]. ", f"They are made of {HOSTILE} cheese.")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four pages of the sample, and one that means harm."""
    folder = tmp_path_factory.mktemp("page")
    records = folder / "records.jsonl"
    records.write_text(json.dumps({"title": HOSTILE, "text": f"A moon of Mars. {HOSTILE}"}) + "\n")
    with Engine.create(folder / "store", "minilm") as engine:
        engine.build([*(pages_folder() / f"{name}.html" for name in PAGES), records])
    return folder / "store"


@pytest.fixture(scope="module")
def script() -> Script:
    return Script(pieces=PIECES)


@pytest.fixture(scope="module")
def address(store: Path, script: Script) -> Iterator[str]:
    with listening(store, script=script) as address:
        yield address


@pytest.fixture
def page(chrome: Chrome, address: str, script: Script) -> Chrome:
    """The page, freshly opened on a desk."""
    script.gate.set()
    wide(chrome, 1280)
    dark_mode(chrome, False)
    chrome.get("about:blank")
    chrome.get(address)
    soon(lambda: all_of(chrome, ".title"), "the list of documents")
    chrome.get_log("performance")
    return chrome


@pytest.fixture
def asked(page: Chrome) -> Chrome:
    """The page with an answer on it."""
    pose(page, QUESTION)
    return page


def pose(page: Chrome, question: str) -> None:
    """Type a question and wait for the whole answer, which is not that to an earlier question."""
    page.execute_script(
        "document.querySelectorAll('.hit, .statement').forEach((old) => (old.dataset.old = ''))"
    )
    field = one(page, "#question")
    field.clear()
    field.send_keys(question, Keys.ENTER)
    fresh = [f"{name}:not([data-old])" for name in (".hit", ".statement")]
    soon(lambda: all(all_of(page, selector) for selector in fresh), "passages and the answer")


def all_of(page: Chrome, selector: str) -> list[WebElement]:
    return page.find_elements(By.CSS_SELECTOR, selector)


def one(page: Chrome, selector: str) -> WebElement:
    return page.find_element(By.CSS_SELECTOR, selector)


def ranking(page: Chrome) -> list[str]:
    return [item.get_attribute("data-uri") or "" for item in all_of(page, ".hit")]


def press_on(page: Chrome, element: WebElement) -> None:
    """Click where it can be seen: the head of the page covers what a driver scrolls to."""
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    element.click()


def open_passage(page: Chrome, place: int = 0) -> WebElement:
    """Open one and wait until all of it is there."""
    item = all_of(page, ".hit")[place]
    press_on(page, item.find_element(By.CSS_SELECTOR, ".head"))
    soon(lambda: item.find_elements(By.CSS_SELECTOR, ".contributions"), "the opened passage")
    return item


def test_the_page_asks_only_its_server_and_hostile_text_stays_text(asked: Chrome, address: str) -> None:
    """In a title, a passage, a question and an answer; opened, drawn and read."""
    pose(asked, HOSTILE)
    for place, uri in enumerate(ranking(asked)):
        if "<" in uri:
            open_passage(asked, place)
            press_on(asked, one(asked, ".crumb"))
            soon(lambda: one(asked, "#reader").is_displayed())
            assert HOSTILE in one(asked, "#reader-text").text
            one(asked, "#reader-close").click()
            break
    else:
        pytest.fail("the hostile page was not found")
    assert HOSTILE in one(asked, "#answer-text").text
    messages = [json.loads(entry["message"])["message"] for entry in asked.get_log("performance")]
    requested = [
        m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"
    ]
    assert requested and all(url.startswith(address) for url in requested)
    assert asked.title == f"{HOSTILE} · Trivium"
    assert not [entry for entry in asked.get_log("browser") if entry["level"] == "SEVERE"]


def test_every_passage_has_a_bar_with_the_views_in_it(asked: Chrome) -> None:
    assert len(all_of(asked, ".hit")) == 10
    for item in all_of(asked, ".hit"):
        label = item.find_element(By.CSS_SELECTOR, ".bar").get_attribute("aria-label") or ""
        parts = {
            part.split(" ")[0]: float(part.split(" ")[1].replace("−", "-")) for part in label.split(", ")
        }
        assert set(parts) == set(RETRIEVERS)
        drawn = item.find_elements(By.CSS_SELECTOR, ".part")
        assert drawn and len(drawn) <= 8
    titles = all_of(asked, ".hit .place")
    assert any("Asaph Hall" in title.text or "Discovery" in title.text for title in titles[:5])


def test_the_answer_is_seen_while_it_is_written(page: Chrome, script: Script) -> None:
    script.gate.clear()
    one(page, "#question").send_keys(QUESTION, Keys.ENTER)
    soon(lambda: all_of(page, ".hit"), "the passages, before the answer")
    assert one(page, "#answer-text").get_attribute("aria-busy") == "true"
    assert not all_of(page, ".statement")
    script.gate.set()
    soon(lambda: all_of(page, ".statement"))
    assert one(page, "#answer-text").get_attribute("aria-busy") == "false"
    assert one(page, "#answer-text").text.startswith("Asaph Hall found both of them")


def test_what_nothing_bears_out_is_marked_and_a_citation_shows_and_opens_its_passage(asked: Chrome) -> None:
    supported, unsupported = all_of(asked, ".statement")
    assert "unsupported" not in (supported.get_attribute("class") or "")
    assert "unsupported" in (unsupported.get_attribute("class") or "") and "cheese" in unsupported.text
    cite = one(asked, ".cite")
    ActionChains(asked).move_to_element(cite).perform()
    card = one(asked, "#card")
    soon(card.is_displayed)
    first = all_of(asked, ".hit")[0]
    snippet = first.find_element(By.CSS_SELECTOR, ".snippet").text.removesuffix("…").strip()
    assert " ".join(card.text.split("\n", 1)[1].split()).startswith(" ".join(snippet.split())[:100])
    cite.click()
    soon(lambda: first.find_elements(By.CSS_SELECTOR, "mark"), "the cited passage")
    assert not card.is_displayed()
    assert first.find_element(By.CSS_SELECTOR, ".head").get_attribute("aria-expanded") == "true"


def number(shown: str) -> float:
    """A number as the page writes it."""
    return float(shown.replace("−", "-"))


def test_an_opened_passage_is_marked_in_its_section_and_leads_into_its_document(asked: Chrome) -> None:
    place = next(i for i, uri in enumerate(ranking(asked)) if uri.count("#") == 2)
    item = open_passage(asked, place)
    snippet = item.find_element(By.CSS_SELECTOR, ".snippet").get_attribute("textContent") or ""
    mark = item.find_element(By.CSS_SELECTOR, ".section mark")
    assert " ".join(mark.text.split()).startswith(snippet.removesuffix("…").strip()[:80])
    page, section = [crumb.text for crumb in item.find_elements(By.CSS_SELECTOR, ".crumb")]
    assert [page, section] == ranking(asked)[place].split("#")[:2]
    assert len(item.find_elements(By.CSS_SELECTOR, ".contributions tbody tr")) == 8
    baseline, score = (
        row.text.split() for row in item.find_elements(By.CSS_SELECTOR, ".contributions tfoot tr")
    )
    added = [
        cell.text for cell in item.find_elements(By.CSS_SELECTOR, ".contributions tbody td:nth-child(2)")
    ]
    assert (baseline[0], score[0]) == ("baseline", "score")
    assert sum(map(number, [baseline[1], *added])) == pytest.approx(number(score[1]), abs=0.06), (
        "as they are rounded"
    )
    press_on(asked, item.find_elements(By.CSS_SELECTOR, ".crumb")[-1])
    reader = one(asked, "#reader")
    soon(reader.is_displayed)
    assert one(asked, "#reader-title").text == page
    assert section in [button.text for button in all_of(asked, "#reader-outline button")]
    assert reader.find_element(By.CSS_SELECTOR, "mark").text == mark.text
    ActionChains(asked).send_keys(Keys.ESCAPE).perform()
    soon(lambda: not reader.is_displayed())
    assert item.find_element(By.CSS_SELECTOR, ".body").is_displayed(), "only the document was closed"


def test_the_way_through_the_graph_is_drawn_and_an_entity_shows_its_neighbours(asked: Chrome) -> None:
    item = open_passage(asked)
    graph = item.find_element(By.CSS_SELECTOR, ".graph")
    assert len(graph.find_elements(By.CSS_SELECTOR, ".node-question")) == 1
    assert len(graph.find_elements(By.CSS_SELECTOR, ".edge")) >= 1
    boxes = [node.rect for node in graph.find_elements(By.CSS_SELECTOR, ".node rect")]
    for place, one_box in enumerate(boxes):
        for other in boxes[place + 1 :]:
            assert (
                one_box["x"] + one_box["width"] <= other["x"] + 1
                or other["x"] + other["width"] <= one_box["x"] + 1
                or one_box["y"] + one_box["height"] <= other["y"] + 1
                or other["y"] + other["height"] <= one_box["y"] + 1
            ), "two nodes lie on each other"
    entity = graph.find_element(By.CSS_SELECTOR, ".node-page, .node-entity")
    asked.execute_script("arguments[0].focus()", entity)
    asked.switch_to.active_element.send_keys(Keys.ENTER)
    soon(lambda: "What surrounds" in item.find_element(By.CSS_SELECTOR, "figcaption").text)
    assert len(item.find_elements(By.CSS_SELECTOR, ".graph .node")) > 3
    press_on(asked, item.find_element(By.CSS_SELECTOR, "figcaption button"))
    soon(lambda: item.find_elements(By.CSS_SELECTOR, ".node-question"))


def test_switching_a_view_off_moves_the_ranking_and_back(asked: Chrome) -> None:
    first = before = ranking(asked)
    for name in ("vector", "walk", "page", "section"):
        one(asked, f"input[value={name}]").click()
        soon(lambda name=name: name not in (one(asked, ".bar").get_attribute("aria-label") or ""))  # type: ignore[misc]
        after = ranking(asked)
        # Not the visible text: what has just come is still fading in.
        moves = [item.get_attribute("textContent") for item in all_of(asked, ".hit .move")]
        for rank, (uri, move) in enumerate(zip(after, moves, strict=True)):
            up = before.index(uri) - rank if uri in before else None
            assert move == ("new" if up is None else "" if up == 0 else f"{'▲' if up > 0 else '▼'}{abs(up)}")
        before = after
    assert before != first
    one(asked, "#all-views").click()
    soon(lambda: ranking(asked) == first, "the ranking of before")
    assert not one(asked, "#all-views").is_displayed()
    assert all(box.is_selected() for box in all_of(asked, "input[name=view]"))


def test_one_view_always_stays_on(asked: Chrome) -> None:
    for name in RETRIEVERS:
        one(asked, f"input[value={name}]").click()
    assert [box.get_attribute("value") for box in all_of(asked, "input:checked")] == ["walk"]
    soon(lambda: "walk" in (one(asked, ".bar").get_attribute("aria-label") or ""))


def test_everything_can_be_done_from_the_keyboard(page: Chrome) -> None:
    def press(*keys: str) -> None:
        ActionChains(page).send_keys(*keys).perform()

    def focused(selector: str) -> bool:
        return bool(page.execute_script("return document.activeElement.matches(arguments[0])", selector))

    assert focused("#question"), "one can type at once"
    press(Keys.ESCAPE)
    assert not focused("#question")
    press("/")
    assert focused("#question") and one(page, "#question").get_attribute("value") == ""
    press(QUESTION, Keys.ENTER)
    soon(lambda: all_of(page, ".hit"))
    press(Keys.ARROW_DOWN)
    assert focused(".hit:nth-child(1) .head")
    press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_UP)
    assert focused(".hit:nth-child(2) .head")
    press(Keys.ENTER)
    soon(lambda: all_of(page, ".hit:nth-child(2) .contributions"))
    press(Keys.ESCAPE)
    assert not all_of(page, ".contributions") and focused(".hit:nth-child(2) .head")
    press(Keys.ARROW_UP, Keys.ARROW_UP)
    assert focused("#question")


def test_the_address_holds_the_question_so_that_going_back_works(asked: Chrome, address: str) -> None:
    first = asked.current_url
    assert first.startswith(f"{address}/#q=")
    pose(asked, "What is Deimos?")
    asked.back()
    soon(lambda: asked.title == f"{QUESTION} · Trivium")
    asked.get("about:blank")
    asked.get(first)
    soon(lambda: all_of(asked, ".hit"))
    one(asked, "#home").click()
    soon(lambda: one(asked, "#welcome").is_displayed())


def test_a_conversation_is_passed_on_until_it_is_begun_anew(asked: Chrome, script: Script) -> None:
    pose(asked, "When did he live?")
    question, history = script.asked[-1]
    assert question == "When did he live?" and [turn.question for turn in history] == [QUESTION]
    one(asked, "#forget").click()
    pose(asked, "What is Deimos?")
    assert script.asked[-1][1] == ()


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_runs_out_of_the_window(page: Chrome, width: int) -> None:
    def fits() -> bool:
        return bool(page.execute_script("return document.documentElement.scrollWidth <= innerWidth"))

    wide(page, width)
    assert fits(), "the list of documents"
    pose(page, QUESTION)
    for place in range(3):
        open_passage(page, place)
        assert fits(), ranking(page)[place]
    press_on(page, one(page, ".crumb"))
    soon(lambda: one(page, "#reader").is_displayed())
    assert fits() and one(page, "#reader").rect["width"] <= width
    one(page, "#reader-close").click()


def test_dark_where_the_reader_wants_it_and_legible_either_way(asked: Chrome) -> None:
    """The contrast of text and ground is at least 4.5 (WCAG AA), also of what is written small."""
    open_passage(asked)
    for dark in (False, True):
        dark_mode(asked, dark)
        for selector in (
            ".place",
            ".note",
            ".crumb",
            ".contributions .source",
            "mark",
            ".score",
            "#form button",
        ):
            contrast, background = asked.execute_script(CONTRAST, one(asked, f".hit {selector}, {selector}"))
            assert contrast >= 4.5, (selector, dark, contrast)
        assert (asked.execute_script(CONTRAST, one(asked, "body"))[1] < 0.2) is dark
        assert 0 <= background <= 1


def test_a_server_with_a_key_is_asked_with_it(store: Path, chrome: Chrome) -> None:
    key = "a-key-of-some-length"
    with listening(store, ServerSettings(api_keys=(key,)), Script(pieces=PIECES)) as address:
        chrome.get(address)
        soon(lambda: one(chrome, "#key-box").is_displayed(), "the question for a key")
        one(chrome, "#key").send_keys("a-wrong-key-that-is-long", Keys.ENTER)
        soon(
            lambda: (
                one(chrome, "#key").get_attribute("value") == "" and one(chrome, "#key-box").is_displayed()
            )
        )
        one(chrome, "#key").send_keys(key, Keys.ENTER)
        soon(lambda: all_of(chrome, ".title"))
        pose(chrome, QUESTION)
        chrome.refresh()
        soon(lambda: all_of(chrome, ".hit"), "the passages, with the key that was kept")
        chrome.execute_script("sessionStorage.clear()")


def test_a_picture_is_shown_beside_its_passage(tmp_path: Path, chrome: Chrome) -> None:
    """Described, and where the passage is opened, in its section; also where the server asks for a key."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "chair.png").write_bytes(drawn(size=(640, 480)))
    (tmp_path / "docs" / "page.md").write_text(
        "# Chairs\n\n![The office chair](chair.png)\n\nDesks are round.\n"
    )
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.build([tmp_path / "docs"])

    def shown(selector: str) -> WebElement:
        found = soon(lambda: all_of(chrome, selector), selector)
        soon(lambda: found[0].get_property("naturalWidth") == 320, f"{selector} with its picture")
        return found[0]

    key = "a-key-of-some-length"
    for settings in (ServerSettings(), ServerSettings(api_keys=(key,))):
        with listening(tmp_path / "store", settings) as address:
            chrome.get(address)
            if settings.api_keys:
                chrome.execute_script("sessionStorage.setItem('trivium-key', arguments[0])", key)
                chrome.refresh()
            soon(lambda: all_of(chrome, ".title"))
            pose(chrome, "Which office chair?")
            picture = shown(".hit .snippet img")
            assert picture.get_attribute("alt").startswith("The office chair")
            assert picture.get_attribute("loading") == "lazy"
            one(chrome, ".hit .head:has(img)").click()
            shown(".hit .section img")
            chrome.execute_script("sessionStorage.clear()")


def test_what_goes_wrong_is_said(store: Path, chrome: Chrome) -> None:
    with listening(store, script=Script(error=RuntimeError("broken"))) as address:
        chrome.get(address)
        soon(lambda: all_of(chrome, ".title"))
        one(chrome, "#question").send_keys(QUESTION, Keys.ENTER)
        soon(lambda: "No answer" in one(chrome, "#answer-note").text)
        assert all_of(chrome, ".hit") or soon(lambda: all_of(chrome, ".hit"))


CONTRAST = """
const channels = colour => {
  const context = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3).map(value => value / 255);
};
const luminance = colour => channels(colour)
  .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
  .reduce((sum, value, place) => sum + value * [0.2126, 0.7152, 0.0722][place], 0);
let ground = arguments[0];
while (getComputedStyle(ground).backgroundColor === 'rgba(0, 0, 0, 0)') ground = ground.parentElement;
const [text, behind] = [getComputedStyle(arguments[0]).color, getComputedStyle(ground).backgroundColor].map(luminance);
return [(Math.max(text, behind) + 0.05) / (Math.min(text, behind) + 0.05), behind];
"""


def test_a_citation_that_the_answer_does_not_name_is_shown_at_its_sentence(
    store: Path, chrome: Chrome
) -> None:
    """A model that cites nothing by itself is cited for, sentence by sentence."""
    script = Script(pieces=("Asaph Hall found them. ", "They are made of cheese."), unnamed="Asaph")
    with listening(store, script=script) as address:
        chrome.get(address)
        soon(lambda: all_of(chrome, ".title"))
        pose(chrome, QUESTION)
        borne_out, cheese = all_of(chrome, ".statement")
        assert [mark.text for mark in borne_out.find_elements(By.CSS_SELECTOR, ".cite")] == ["1"]
        assert not cheese.find_elements(By.CSS_SELECTOR, ".cite")
