"""Turns that run on while the page comes and goes; several pages, several people; links."""

import re
import signal
import time

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import new_page, running_app
from tests.e2e.steps import answer, ask, bubble, cite, preload
from tests.fixtures.model_server import LoopbackServer, Reply

LONG = " ".join(f"Word {number} is written slowly [1]." for number in range(400))
WRITING = re.compile("Word 3 is written")
GUEST = ("--server.address", "0.0.0.0")


@pytest.fixture(scope="module")
def model():
    server = LoopbackServer()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def app(tmp_path_factory, model):
    """An app with two papers and a model that writes slowly."""
    folder = tmp_path_factory.mktemp("workbench")
    preload(folder, "fusion", "citations")
    model.reply = Reply(text=LONG, delay=0.03)
    settings = {"LLM_BASE_URL": model.url, "LLM_MODEL": "loopback-model", "LLM_API_KEY": "k"}
    with running_app(folder, **settings) as address:
        yield address


def begin(page, app, question="What is a slow answer?"):
    page.goto(f"{app}/ask")
    ask(page, question)
    expect(bubble(page, 0).get_by_text(WRITING)).to_be_visible()


def stop(page):
    page.get_by_role("button", name=re.compile("Stop$")).click()


def test_stop_in_mid_stream_closes_the_request_and_keeps_what_was_written(app, page, model):
    waited = []
    for _ in range(3):
        begin(page, app)
        request = model.requests[-1]
        stop(page)
        clicked = time.monotonic()
        assert request.done.wait(10)
        assert request.closed_at is not None
        waited.append(request.closed_at - clicked)
        expect(page.get_by_text("Stopped here. What was written is kept.")).to_be_visible()
        expect(answer(page, 0)).to_contain_text("Word 3 is written")
    assert min(waited) < 0.5  # the others may have met a busy machine
    page.reload()
    expect(answer(page, 0)).to_contain_text("Word 3 is written")


def test_after_a_model_broke_off_one_can_try_again_or_do_without(app, page, model):
    model.enqueue(
        Reply(text="It is stored with care [1]. And more words follow.", drop_after=8, delay=0.05)
    )
    page.goto(f"{app}/ask")
    ask(page, "What is stored with every citation?")
    expect(answer(page, 0)).to_contain_text("It is stored")
    expect(answer(page, 0).get_by_text("broke off")).to_be_visible()
    model.enqueue(Reply(text="Its hash is stored [1]."))
    page.get_by_role("button", name=re.compile("Try again$")).click()
    expect(answer(page, 1)).to_contain_text("Its hash is stored")
    asked = len(model.requests)
    page.get_by_role("button", name=re.compile("own sentences$")).click()
    expect(answer(page, 2)).to_contain_text("no language model was used")
    assert len(model.requests) == asked


def test_a_new_question_in_mid_stream_stops_the_old_answer(app, page, model):
    begin(page, app)
    request = model.requests[-1]
    model.enqueue(Reply(text="A short answer [1]."))
    ask(page, "And shorter?")
    expect(answer(page, 1)).to_contain_text("A short answer")
    assert request.done.wait(10)
    assert request.closed_at is not None
    expect(answer(page, 0)).to_contain_text("Word 3 is written")


def test_reload_in_mid_stream_attaches_again(app, page, model):
    begin(page, app)
    page.reload()
    expect(bubble(page, 0).get_by_text(re.compile("Word 8 is written"))).to_be_visible()
    assert model.requests[-1].closed_at is None
    stop(page)
    expect(page.get_by_text("Stopped here. What was written is kept.")).to_be_visible()


def test_two_tabs_on_one_conversation(app, page, model):
    begin(page, app)
    expect(page).to_have_url(re.compile("conversation="))
    other = page.context.new_page()
    other.goto(page.url)
    expect(bubble(other, 0).get_by_text(WRITING)).to_be_visible()
    stop(other)
    for tab in (page, other):
        expect(tab.get_by_text("Stopped here. What was written is kept.")).to_be_visible()
    model.enqueue(Reply(text="Told to both [1]."))
    ask(page, "And a second question?")
    for tab in (page, other):
        expect(answer(tab, 1)).to_contain_text("Told to both")


def test_a_lost_connection_comes_back_to_the_same_turn(app, browser, model):
    page = new_page(browser)
    page.add_init_script(
        "const Real = window.WebSocket; window.sockets = [];"
        "window.WebSocket = class extends Real {"
        "  constructor(...given) { super(...given); window.sockets.push(this) } }"
    )
    begin(page, app)
    page.evaluate("window.sockets.forEach((socket) => socket.close())")
    expect(bubble(page, 0).get_by_text(re.compile("Word 9 is written"))).to_be_visible()
    assert model.requests[-1].closed_at is None
    stop(page)
    expect(page.get_by_text("Stopped here. What was written is kept.")).to_be_visible()
    page.context.close()


def test_back_and_forward(app, page, model):
    model.enqueue(Reply(text="It is stored [1]."))
    page.goto(app)
    page.get_by_role("link", name=re.compile("Ask$")).click()
    ask(page, "What is stored?")
    cite(page, 0, 1)
    page.wait_for_url(re.compile("turn="))
    page.get_by_role("link", name=re.compile("System$")).click()
    expect(page.get_by_text("Versions")).to_be_visible()
    page.go_back()
    expect(answer(page, 0)).to_contain_text("It is stored")
    expect(page.locator(".lectern-page img")).to_be_visible()
    page.go_back()
    expect(page.locator(".lectern-page")).to_have_count(0)
    page.go_back()
    expect(page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Go on reading")).to_be_visible()


def test_a_conversation_is_renamed_deleted_and_had_back(app, page, model):
    model.enqueue(Reply(text="It is stored [1]."))
    page.goto(f"{app}/ask")
    ask(page, "Which name has this?")
    answer(page, 0)
    page.locator(".st-key-conversation-head").get_by_role("button").first.click()
    page.get_by_label("Title").fill("A better name")
    page.get_by_test_id("stPopoverBody").get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", name="A better name")).to_be_visible()
    page.locator(".st-key-delete-conversation").get_by_role("button").first.click()
    expect(page.get_by_text("Removed: A better name")).to_be_visible()
    expect(page.get_by_test_id("stChatMessage")).to_have_count(0)
    page.get_by_role("button", name=re.compile("Undo$")).click()
    expect(answer(page, 0)).to_contain_text("It is stored")


def test_deleting_a_conversation_stops_its_answer_in_every_tab(app, page, model):
    begin(page, app)
    request = model.requests[-1]
    expect(page).to_have_url(re.compile("conversation="))
    other = page.context.new_page()
    other.goto(page.url)
    expect(bubble(other, 0).get_by_text(WRITING)).to_be_visible()
    page.locator(".st-key-delete-conversation").get_by_role("button").first.click()
    expect(page.get_by_text(re.compile("^delete Removed:|Removed: What is a slow"))).to_be_visible()
    assert request.done.wait(10)
    assert request.closed_at is not None
    expect(other.get_by_text("not here (any more)")).to_be_visible()
    expect(other.get_by_test_id("stException")).to_have_count(0)


def test_ctrl_c_ends_the_app_while_an_answer_is_written(tmp_path, page, model):
    settings = {"LLM_BASE_URL": model.url, "LLM_MODEL": "loopback-model", "LLM_API_KEY": "k"}
    preload(tmp_path, "fusion")
    running = running_app(tmp_path, **settings)
    with running as address:
        begin(page, address)
        where = page.url
        running.process.send_signal(signal.SIGINT)
        running.process.wait(15)
    running = running_app(tmp_path, **settings)
    with running as address:
        page.goto(re.sub(r"^http://[^/]+", address, where))
        expect(page.get_by_text("Stopped here. What was written is kept.")).to_be_visible()
        expect(answer(page, 0)).to_contain_text("Word 3 is written")


def test_exports_download(app, page, model):
    model.enqueue(Reply(text="It is stored [1]."))
    page.goto(f"{app}/ask")
    ask(page, "What is exported?")
    answer(page, 0)
    page.locator(".st-key-conversation-head").get_by_role("button").nth(1).click()
    for label, wanted in (
        ("Markdown", "[^1]:"),
        ("BibTeX", "@misc"),
        ("CSV", "page"),
        ("JSON", '"citations"'),
    ):
        with page.expect_download() as download:
            page.get_by_test_id("stPopoverBody").get_by_role(
                "button", name=re.compile(label)
            ).click()
        assert wanted in download.value.path().read_text(encoding="utf-8-sig"), label


def test_the_ticked_row_is_the_citation_that_is_open(app, page, model):
    model.enqueue(Reply(text="It is stored [1]. It is checked [2]."))
    page.goto(f"{app}/ask")
    ask(page, "Which row is ticked?")
    cite(page, 0, 1)
    shown, second = page.locator(".lectern-page .tag[aria-current]"), {"x": 16, "y": 87}
    page.get_by_test_id("stDataFrame").click(position=second)
    expect(shown).to_have_text("[2]")
    cite(page, 0, 1)
    page.get_by_test_id("stDataFrame").click(position=second)
    expect(shown).to_have_text("[2]")
    page.get_by_test_id("stDataFrame").click(position=second)
    expect(page.locator(".lectern-page")).to_have_count(0)


def test_a_selected_passage_leads_the_question(app, page, model):
    model.enqueue(Reply(text="It is stored [1]."))
    page.goto(f"{app}/ask")
    ask(page, "What is stored with a citation?")
    cite(page, 0, 1)
    line = page.locator(".lectern-page .lines > span").nth(8)
    words = line.inner_text()
    box = line.bounding_box()
    page.mouse.move(box["x"] + 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2, steps=8)
    page.mouse.up()
    page.get_by_role("button", name="Ask about this").click()
    expect(page.locator(".st-key-unselect")).to_be_visible()
    model.enqueue(Reply(text="About the passage [1]."))
    ask(page, "What does this mean?")
    expect(answer(page, 1)).to_contain_text("About the passage")
    prompt = str(model.requests[-1].body["messages"])
    assert any(word in prompt for word in words.split() if len(word) > 3)


@pytest.mark.parametrize(
    "path", ["/library", "/system", "/memory"]
)  # others: test_links_…, test_main_job
def test_every_page_opens_by_its_address_on_a_cold_server(tmp_path, page, path):
    with running_app(tmp_path) as address:
        page.goto(address + path)
        expect(page.get_by_role("link", name=re.compile("Library$")).first).to_be_visible()
        expect(page.get_by_role("main").get_by_role("heading").first).to_be_visible()
        expect(page.get_by_test_id("stException")).to_have_count(0)


def test_links_lead_where_they_say_also_on_a_cold_server(tmp_path, page):
    """What one does next goes by the address: it must not lead back to what was left."""
    preload(tmp_path, "citations")
    with running_app(tmp_path) as address:
        page.goto(f"{address}/ask")
        ask(page, "What is stored with every citation?")
        answer(page, 0)
        page.get_by_role("link", name="New conversation").click()
        page.wait_for_url(re.compile(r"/ask$"))
        page.get_by_role("button", name="About all papers").click()
        expect(page.get_by_text("Ask about", exact=True)).to_be_visible()
        expect(page.get_by_test_id("stChatMessage")).to_have_count(0)
        page.keyboard.press("Escape")
        ask(page, "What makes a citation checkable?")
        answer(page, 0)
        expect(page.get_by_test_id("stChatMessage")).to_have_count(2)
        second = page.url
        page.get_by_role("link", name="What is stored with every citation?").click()
        expect(page.get_by_role("heading", name="What is stored")).to_be_visible()
        cite(page, 0, 1)
        assert page.url != second
        expect(page.get_by_role("heading", name="What is stored")).to_be_visible()
        page.goto(f"{address}/library")
        page.get_by_test_id("stDataFrame").click(position={"x": 16, "y": 52})
        page.wait_for_url(re.compile("paper="))
        page.get_by_role("link", name=re.compile("Library$")).click()
        page.wait_for_url(re.compile(r"/library$"))
        page.goto(second)
        cite(page, 0, 1)
        page.wait_for_url(re.compile("turn="))
        conversation = page.url
        page.locator(".st-key-evidence").get_by_role("link").click()
        expect(page).to_have_url(re.compile("/library.*paper="))
        paper = re.sub(r"page=\d+", "page=3", page.url)
    with running_app(tmp_path) as address:
        page.goto(re.sub(r"^http://[^/]+", address, conversation))
        expect(answer(page, 0)).to_contain_text("[1]")
        expect(page.locator(".lectern-page .tag[aria-current]")).to_have_text("[1]")
        page.goto(re.sub(r"^http://[^/]+", address, paper))
        expect(page.locator(".lectern-page input")).to_have_value("3")
        page.goto(f"{address}/ask?conversation=00000000-0000-4000-8000-000000000000")
        expect(page.get_by_text("not here (any more)")).to_be_visible()
        page.goto(f"{address}/library?paper=' OR 1=1&page=-7")
        expect(page.get_by_text("is not in your library")).to_be_visible()


def test_guests_see_nothing_of_each_other(tmp_path, browser):
    """Beyond loopback each visitor is a guest with a space of their own behind a key."""
    with running_app(tmp_path, "streamlit_app.py", *GUEST) as address:
        first, second = new_page(browser), new_page(browser)
        first.goto(address)
        expect(first.get_by_text("You are a guest")).to_be_visible()
        first.get_by_role("button", name=re.compile("Try with the sample papers")).click()
        first.get_by_role("button", name=re.compile("What is stored with every")).click()
        cite(first, 0, 1)
        foreign = re.sub(r"space=[^&]+&?", "", first.url)
        assert "space=" in first.url
        second.goto(foreign)
        expect(second.get_by_text("not here (any more)")).to_be_visible()
        expect(second.locator(".lectern-page")).to_have_count(0)
        second.goto(f"{address}/library")
        expect(second.get_by_text("No papers yet")).to_be_visible()
        back = new_page(browser)
        back.goto(first.url)
        expect(answer(back, 0)).to_contain_text("[1]")
        for page in (first, second, back):
            page.context.close()


def test_chinese_from_the_first_string(tmp_path, browser):
    page = new_page(browser, locale="zh-CN")
    with running_app(tmp_path) as address:
        page.goto(address)
        expect(page.get_by_role("link", name=re.compile("文献库$"))).to_be_visible()
        page.get_by_role("radio", name="English").click()
        expect(page.get_by_role("link", name=re.compile("Library$"))).to_be_visible()
        again = new_page(browser, locale="zh-CN")
        again.goto(address)
        expect(again.get_by_role("link", name=re.compile("Library$"))).to_be_visible()
        again.context.close()
    page.context.close()


def test_a_paper_is_read_by_outline_search_and_pages(app, page):
    page.goto(f"{app}/library")
    page.get_by_test_id("stDataFrame").click(position={"x": 16, "y": 52})
    number = page.locator(".lectern-page input")
    expect(number).to_have_value("1")
    page.get_by_role("button", name="Next page").click()
    expect(number).to_have_value("2")
    box, marks = page.get_by_test_id("stPopoverBody"), page.locator(".lectern-page .found")
    page.get_by_role("button", name=re.compile("Outline")).click()
    box.get_by_role("button").first.click()
    expect(number).to_have_value("1")
    expect(box).to_have_count(0)
    page.get_by_role("button", name=re.compile("Find")).click()
    page.get_by_label("Find in this paper").fill("passage")
    page.get_by_label("Find in this paper").press("Enter")
    expect(page.get_by_text(re.compile(r"^\d+ places$"))).to_be_visible()
    expect(marks.first).to_be_attached()
    assert box.bounding_box()["width"] < 400
    box.get_by_role("button").last.click()
    expect(box).to_have_count(0)
    expect(marks.first).to_be_attached()
    page.get_by_role("button", name=re.compile("passage$")).click()
    expect(marks).to_have_count(0)
    wide = page.locator(".lectern-page .sheet").bounding_box()["width"]
    page.get_by_role("button", name="Larger").click()
    page.wait_for_function(
        "width => document.querySelector('.lectern-page .sheet').offsetWidth > width + 10", arg=wide
    )
