"""The answer and the page pane in a real browser, on a page of their own with a real paper."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.apps.material import HOSTILE, lines_of, marks
from tests.e2e.conftest import ROOT, running_app

SCRIPT = "tests/e2e/apps/components_app.py"
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with running_app(tmp_path_factory.mktemp("components"), SCRIPT) as address:
        yield address


@pytest.fixture
def pane(address, page):
    """Return the page pane of a fresh session, drawn."""
    return drawn(address, page)


def drawn(address, page, show=""):
    page.goto(f"{address}/?show={show}")
    pane = page.locator(".lectern-page")
    expect(pane.get_by_label("Page", exact=True)).to_have_value("1")
    expect(told(page)).to_contain_text("nothing yet")
    return pane


def told(page):
    return page.get_by_test_id("stCode")


def citation(page, n):
    return page.locator(".lectern-answer").get_by_role("button", name=f"Citation {n},").first


def fraction(pane, selector):
    """Return where an element lies on the picture, in fractions, and the picture's size."""
    box = pane.locator(selector).first.bounding_box()
    sheet = pane.get_by_role("img").bounding_box()
    x, y = box["x"] - sheet["x"], box["y"] - sheet["y"]
    return (x, y, x + box["width"], y + box["height"]), (sheet["width"], sheet["height"])


def drag(page, pane, first, last):
    """Select from the start of one line of print to the end of another, with the mouse."""
    lines = pane.locator(".lines > span")
    start, end = lines.nth(first).bounding_box(), lines.nth(last).bounding_box()
    page.mouse.move(start["x"] + 1, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + 5, end["y"] + end["height"] / 2, steps=5)
    page.mouse.move(end["x"] + end["width"] - 1, end["y"] + end["height"] / 2, steps=5)
    page.mouse.up()


def flat(text):
    return " ".join(text.split())


def test_a_click_opens_the_citation(pane, page):
    citation(page, 2).click()
    expect(told(page)).to_have_text("opened 2")
    expect(citation(page, 2)).to_have_attribute("aria-current", "true")
    expect(citation(page, 1)).not_to_have_attribute("aria-current", "true")
    expect(page.locator(".sentence.current").first).to_contain_text("Fusion combines")
    expect(pane.locator(".tag")).to_have_count(3)


def test_an_opened_mark_comes_into_view_every_time(pane, page):
    for _ in range(3):
        pane.get_by_role("button", name="Zoom in").click()
    expect(pane.locator(".mark").last).not_to_be_in_viewport()
    citation(page, 3).click()
    expect(pane.locator(".mark.current").first).to_be_in_viewport()
    page.wait_for_timeout(1000)
    pane.get_by_role("region").evaluate("node => node.scrollTo({top: 0, behavior: 'instant'})")
    expect(pane.locator(".mark.current").first).not_to_be_in_viewport()
    citation(page, 3).click()
    expect(pane.locator(".mark.current").first).to_be_in_viewport()


def test_a_mark_chosen_on_the_page_brings_its_sentence_into_view(address, page):
    page.set_viewport_size({"width": 390, "height": 500})
    pane = drawn(address, page)
    pane.get_by_role("button", name="Citation 3", exact=True).click()
    expect(page.locator(".sentence.current").first).to_be_in_viewport()
    citation(page, 1).click()
    expect(page.locator(".sentence.current").first).to_contain_text("Fusion combines")


def test_events_can_be_taken_from_what_is_returned(address, page):
    pane = drawn(address, page, "returned")
    citation(page, 2).click()
    expect(told(page)).to_have_text("opened 2")
    pane.get_by_role("button", name="Citation 1", exact=True).click()
    expect(told(page)).to_have_text("opened 2\ncite 1", use_inner_text=True)
    expect(pane.locator(".mark.current")).to_have_count(2)


def test_citations_work_from_the_keyboard(pane, page):
    citation(page, 1).focus()
    page.keyboard.press("Tab")
    expect(citation(page, 2)).to_be_focused()
    page.keyboard.press("Enter")
    expect(told(page)).to_have_text("opened 2")
    expect(citation(page, 2)).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    expect(told(page)).to_have_text("opened 2\nopened 1", use_inner_text=True)


def test_a_verdict_tells_its_reason(pane, page):
    answer = page.locator(".lectern-answer")
    expect(answer.locator(".verdict.unsupported").first).to_have_text(re.compile("Not supported"))
    answer.locator(".verdict.supported").first.focus()
    expect(answer.locator(".lectern-tip")).to_be_visible()
    expect(answer.locator(".lectern-tip")).to_contain_text("Reason 0")
    page.keyboard.press("Escape")
    expect(answer.locator(".lectern-tip")).to_be_hidden()
    answer.locator(".verdict.removed").hover()
    expect(answer.locator(".lectern-tip")).to_have_text("Numbers that do not exist: [9]")


def test_lists_paragraphs_and_bold_are_drawn(pane, page):
    answer = page.locator(".lectern-answer")
    expect(answer.locator("p")).to_have_count(2)
    expect(answer.locator("ul > li")).to_have_text(
        [re.compile("^One item"), re.compile("^Another")]
    )
    expect(answer.locator("ol > li")).to_contain_text("首先比较两条路径")
    expect(answer.locator("strong")).to_have_text("BM25")


def test_a_mark_lies_where_its_passage_is_at_every_zoom(pane, page):
    citation(page, 2).click()
    wanted = marks(1, None)[1].boxes[0]
    expect(pane.locator(".mark.current")).to_have_count(3)
    for zoom in ("Fit width", "Zoom in"):
        pane.get_by_role("button", name=zoom).click()
        page.wait_for_timeout(500)
        got, (width, height) = fraction(pane, ".mark.current")
        expected = (wanted.x0 * width, wanted.y0 * height, wanted.x1 * width, wanted.y1 * height)
        assert got == pytest.approx(expected, abs=2)


def test_a_line_to_select_lies_on_its_print(pane, page):
    for at in (0, 8, 20):
        expected = lines_of(1)[at][1]
        got, (width, height) = fraction(pane, f".lines > span >> nth={at}")
        assert got[0] == pytest.approx(expected.x0 * width, abs=2)
        assert got[2] == pytest.approx(expected.x1 * width, abs=2)
        assert got[1] == pytest.approx(expected.y0 * height, abs=2)


def test_a_mark_on_the_page_opens_its_citation(pane, page):
    pane.get_by_role("button", name="Citation 3", exact=True).click()
    expect(told(page)).to_have_text("cite 3")
    expect(citation(page, 3)).to_have_attribute("aria-current", "true")
    page.wait_for_timeout(1000)  # it scrolls there, and we back
    pane.get_by_role("region").evaluate("node => node.scrollTo({top: 0, behavior: 'instant'})")
    box = pane.locator(".mark").first.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(told(page)).to_have_text("cite 3\ncite 1", use_inner_text=True)


def test_what_is_selected_can_be_asked_about(pane, page):
    drag(page, pane, 6, 8)
    pane.get_by_role("button", name="Ask about this").click()
    wanted = flat(" ".join(text for text, _ in lines_of(1)[6:9]))
    expect(told(page)).to_have_text(f"quote 0 {wanted}")
    expect(pane.get_by_role("button", name="Ask about this")).to_be_hidden()


def test_a_selection_that_ends_in_the_margin_is_not_all_of_the_page(pane, page):
    lines = pane.locator(".lines > span")
    start, end = lines.nth(6).bounding_box(), lines.nth(8).bounding_box()
    sheet = pane.get_by_role("img").bounding_box()
    page.mouse.move(start["x"] + 1, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + 40, end["y"] + end["height"] / 2, steps=8)
    page.mouse.move(sheet["x"] + sheet["width"] - 3, end["y"] + end["height"] / 2, steps=8)
    page.mouse.up()
    chosen = page.evaluate("document.getSelection().toString()")
    assert 20 < len(chosen) < 3 * max(len(text) for text, _ in lines_of(1))


def test_a_few_characters_are_no_question(pane, page):
    page.evaluate(
        """() => {
            const text = document.querySelector(".lines > span").firstChild
            document.getSelection().setBaseAndExtent(text, 0, text, 2)
        }"""
    )
    page.wait_for_timeout(600)
    expect(pane.get_by_text("Ask about this")).to_be_hidden()
    page.evaluate("document.getSelection().modify('extend', 'forward', 'word')")
    expect(pane.get_by_text("Ask about this")).to_be_visible()


def test_text_of_a_paper_without_pictures(address, page):
    pane = drawn(address, page, "text")
    expect(pane.locator("mark").last).not_to_be_in_viewport()
    citation(page, 3).click()
    expect(pane.locator("mark.current").first).to_be_in_viewport()
    quote = flat(marks(1, None)[2].quote)
    shown = pane.locator("mark.current").all_inner_texts()
    assert flat("".join(shown)).replace(" ", "") == quote.replace(" ", "")
    found = pane.locator("mark.found").all_inner_texts()
    assert {flat(text).casefold() for text in found} == {"four sets"}
    pane.locator(".reading p").first.select_text()
    pane.get_by_role("button", name="Ask about this").click()
    expect(told(page)).to_contain_text("quote 0 ")


@pytest.mark.parametrize("show", ["", "returned", "slow"])
def test_pages_turned_quickly_end_at_the_right_one(address, page, show):
    pane = drawn(address, page, show)
    pane.get_by_role("region").focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(250 if show == "slow" else 0)
    expect(pane.get_by_label("Page", exact=True)).to_have_value("6")
    expect(pane.get_by_role("img")).to_have_attribute("alt", "Page 6 of 12")
    expect(pane.get_by_role("region")).not_to_have_attribute("aria-busy", "true")
    assert told(page).inner_text().strip().splitlines()[-1] == "turn 6"
    page.wait_for_timeout(1500)
    expect(pane.get_by_label("Page", exact=True)).to_have_value("6")


def test_a_page_number_can_be_typed(pane, page):
    number = pane.get_by_label("Page", exact=True)
    number.fill("99")
    number.press("Enter")
    expect(pane.get_by_role("img")).to_have_attribute("alt", "Page 12 of 12")
    expect(pane.get_by_role("button", name="Next page")).to_be_disabled()
    number.fill("no number")
    number.press("Enter")
    expect(number).to_have_value("12")
    pane.get_by_role("button", name="Previous page").click()
    expect(pane.get_by_role("img")).to_have_attribute("alt", "Page 11 of 12")


def test_zoom_and_place_survive(pane, page):
    scroller = pane.get_by_role("region")
    scroller.focus()
    for key in "+++-":
        page.keyboard.press(key)
    scroller.evaluate("node => node.scrollTop = 150")
    width = pane.get_by_role("img").bounding_box()["width"]
    page.get_by_role("button", name="Rerun").click()
    page.wait_for_timeout(1000)
    page.get_by_role("button", name="One more mark").click()
    expect(pane.locator(".tag")).to_have_count(4)
    assert scroller.evaluate("node => node.scrollTop") == 150
    assert pane.get_by_role("img").bounding_box()["width"] == width
    pane.get_by_role("button", name="Next page").click()
    expect(pane.get_by_role("img")).to_have_attribute("alt", "Page 2 of 12")
    assert pane.get_by_role("img").bounding_box()["width"] == width
    page.keyboard.press("0")
    assert pane.get_by_role("img").bounding_box()["width"] < width


def test_escape_closes(pane, page):
    pane.get_by_role("region").focus()
    page.keyboard.press("Escape")
    expect(told(page)).to_have_text("close 0")


def test_a_selection_outlives_a_rerun(pane, page):
    drag(page, pane, 6, 7)
    expect(pane.get_by_text("Ask about this")).to_be_visible()
    chosen = page.evaluate("document.getSelection().toString()")
    citation(page, 2).dispatch_event("click")
    expect(told(page)).to_have_text("opened 2")
    expect(pane.locator(".mark.current")).to_have_count(3)
    assert page.evaluate("document.getSelection().toString()") == chosen


def test_hostile_text_stays_text(address, page):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_viewport_size(PHONE)
    pane = drawn(address, page, "hostile")
    shown = page.locator(".lectern-answer"), pane.locator(".reading")
    for place in shown:
        for text in HOSTILE[:2]:
            expect(place).to_contain_text(text)
        expect(place).to_contain_text("[99999999999] [7] [0, 1] [1].")
        expect(place.locator("img, a, script, iframe")).to_have_count(0)
    expect(shown[0].locator(".cite")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    for place in shown:
        assert place.evaluate("node => node.scrollWidth <= node.clientWidth")
    assert page.title() not in ("owned", "1")
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []


def test_everything_fits_a_narrow_screen(address, page):
    page.set_viewport_size({"width": 320, "height": 700})
    pane = drawn(address, page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    for button in pane.get_by_role("toolbar").get_by_role("button").all():
        box = button.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 320
        assert min(box["width"], box["height"]) >= 40


ALONE = """async ({ code, data }) => {
    const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }))
    const mount = (await import(url)).default
    const [parentElement, sent] = [document.body, []]
    const setTriggerValue = (kind, value) => sent.push(value)
    window.answer = (page, handled) =>
        mount({ data: { ...data, page, handled }, parentElement, setTriggerValue })
    window.sent = sent
}"""


@pytest.fixture
def alone(page):
    """Return a page with the pane's script alone, where the test is the server."""
    scripts = ("dom.js", "selection.js", "marks.js", "page.js")
    code = "\n".join((ROOT / "ui" / "components" / name).read_text() for name in scripts)
    words = [
        "citation",
        "page",
        "previous",
        "next",
        "zoom_in",
        "zoom_out",
        "fit",
        "close",
        "ask_about",
    ]
    labels = {**{word: word for word in words}, "picture": "{page} of {pages}"}
    data = {
        "picture": None,
        "size": [612, 792],
        "text": "words",
        "lines": [],
        "marks": [],
        "find": "",
    }
    data |= {"found": [], "pages": 9, "labels": labels, "height": 500, "opened": 0}
    page.goto("about:blank")
    page.evaluate(ALONE, {"code": code, "data": data})
    return page


def test_a_late_answer_to_an_older_turn_does_not_count(alone):
    number, region = alone.get_by_label("page", exact=True), alone.get_by_role("region")
    alone.evaluate("void answer(1, 0)")
    for _ in range(2):
        alone.get_by_role("button", name="next").click()
    assert alone.evaluate("sent") == [{"page": 2, "request": 1}, {"page": 3, "request": 2}]
    alone.evaluate("void answer(2, 1)")
    expect(number).to_have_value("3")
    expect(region).to_have_attribute("aria-busy", "true")
    alone.evaluate("void answer(3, 2)")
    expect(region).not_to_have_attribute("aria-busy", "true")
    alone.evaluate("void answer(7, 2)")  # the server opens another page of its own accord
    expect(number).to_have_value("7")
    alone.evaluate("void answer(1, 0)")  # and has forgotten the session
    expect(number).to_have_value("1")


def test_the_end_of_an_overtaken_call_removes_nothing(alone):
    alone.evaluate("window.first = answer(1, 0); window.second = answer(2, 0); void first()")
    expect(alone.get_by_label("page", exact=True)).to_have_value("2")
    alone.evaluate("void second()")
    expect(alone.locator(".lectern-page")).to_have_count(0)
