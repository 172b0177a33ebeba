"""Every sentence of the app has its Chinese, and a finished one of core's finds the way back."""

import ast
import re
from collections.abc import Iterator
from string import Formatter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from core.wording import say
from ui.catalogue import LANGUAGES, SENTENCE_FIELDS, WORD_FIELDS, Catalogue
from ui.language import current_language, translated
from ui.messages import ROOT, catalogues, collect, untranslated

TEMPLATE = collect()
ZH = Catalogue.load("zh")
OF_CORE = sorted(
    entry.id
    for entry in TEMPLATE
    if entry.id and any(place.startswith("core/") for place, _ in entry.locations)
)
FILLED = [template for template in OF_CORE if "{" in template]
FILES = [pytest.param(entries, id=path.parts[-3]) for path, entries in catalogues()]


def fields(sentence: str) -> set[tuple[str, str]]:
    return {(name, spec) for _, name, spec, _ in Formatter().parse(sentence) if name is not None}


def value_for(name: str, spec: str) -> st.SearchStrategy:
    if spec in ("d", ","):
        return st.integers(0, 10**7)
    if spec:
        return st.floats(0, 10**5).map(lambda number: round(number, 1))
    alphabet = st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"))
    text = st.text(alphabet, min_size=1, max_size=12)
    return text.map(lambda value: re.sub(r"\s", "_", value)) if name in WORD_FIELDS else text


@st.composite
def finished(draw) -> tuple[str, dict[str, object]]:
    template = draw(st.sampled_from(FILLED))
    return template, {name: draw(value_for(name, spec)) for name, spec in fields(template)}


def said(template: str, values: dict[str, object]) -> str:
    """Fill the Chinese of a template: numbers as English writes them, sentences in Chinese."""
    parts = []
    for literal, name, spec, how in Formatter().parse(ZH.gettext(template)):
        parts.append(literal)
        if name is not None:
            value = f"{{{name}{'!' + how if how else ''}:{spec}}}".format(**values)
            parts.append(ZH.translated(value) if name in SENTENCE_FIELDS else value)
    return "".join(parts)


def test_the_code_has_sentences_of_every_kind():
    assert {"Answer", "{count:d} supported", "the disk is full.", "reading"} <= set(OF_CORE)
    assert any(isinstance(entry.id, tuple) for entry in TEMPLATE), "no plural form in ui"
    assert {path.parts[-3] for path, _ in catalogues()} == set(LANGUAGES) - {"en"}


@pytest.mark.parametrize("entries", FILES)
def test_every_sentence_is_translated(entries):
    missing = [entry.id for entry in TEMPLATE if entry.id and entries.get(entry.id) is None]
    assert missing == [], "run `make messages` and translate these"
    assert [entry.id for entry in untranslated(entries)] == []


@pytest.mark.parametrize("entries", FILES)
def test_no_translation_is_left_over(entries):
    used = {entry.id for entry in TEMPLATE}
    assert [entry.id for entry in entries if entry.id not in used] == [], "run `make messages`"
    assert list(entries.obsolete) == []


@pytest.mark.parametrize("entries", FILES)
def test_a_translation_says_where_its_sentence_stands(entries):
    """What is core's is told from it, so it must be right."""
    wrong = [
        entry.id
        for entry in TEMPLATE
        if entry.id
        and {at for at, _ in entry.locations} != {at for at, _ in entries[entry.id].locations}
    ]
    assert wrong == [], "run `make messages`"


@pytest.mark.parametrize("entries", FILES)
def test_a_translation_has_the_placeholders_of_its_sentence(entries):
    wrong = []
    for entry in entries:
        allowed = [fields(form) for form in (entry.id if entry.pluralizable else [entry.id])]
        forms = entry.string if entry.pluralizable else [entry.string]
        wrong += [entry.id for form in forms if entry.id and fields(form) not in allowed]
    assert wrong == []


def literals(node: ast.expr) -> list[str]:
    """Return what is written out in an argument: in a string, an f-string, a sum, a choice."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.JoinedStr):
        return [text for part in node.values for text in literals(part)]
    if isinstance(node, ast.BinOp):
        return literals(node.left) + literals(node.right)
    if isinstance(node, ast.IfExp):
        return literals(node.body) + literals(node.orelse)
    return []


def calls(folder: str, names: frozenset[str]) -> Iterator[tuple[str, ast.Call]]:
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
                if name in names:
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", node


FAILURES = frozenset(
    {"LecternError", "BadInput", "UnreadableFile", "NotFound", "Unavailable", "DatabaseDown"}
    | {"ModelFailed", "RerankFailed", "Cancelled", "TurnFailed", "Notice", "StepResult", "Part"}
)
FOR_DEVELOPERS = ("core/cli.py", "core/evals/", "core/bench/")
SHOWN = frozenset(
    {"title", "header", "subheader", "caption", "text", "markdown", "info", "warning", "error"}
    | {"success", "toast", "button", "form_submit_button", "download_button", "link_button"}
    | {"page_link", "text_input", "text_area", "chat_input", "selectbox", "multiselect", "pills"}
    | {"file_uploader", "checkbox", "toggle", "radio", "segmented_control", "expander", "popover"}
    | {"metric", "spinner", "status", "dialog", "Page", "TextColumn", "NumberColumn", "badge"}
)
NOT_WORDS = re.compile(r":material/\w+:|:[\w-]+\[|\bLectern\b")


def test_core_says_nothing_that_is_not_marked():
    bare = [
        (place, text)
        for place, call in calls("core", FAILURES)
        if not place.startswith(FOR_DEVELOPERS)
        for argument in [*call.args, *(keyword.value for keyword in call.keywords)]
        for text in literals(argument)
        if re.search(r"\w \w", text)
    ]
    assert bare == []


@pytest.mark.parametrize("folder", ["ui", "pages"])
def test_pages_show_no_words_that_are_not_marked(folder):
    bare = [
        (place, text)
        for place, call in calls(folder, SHOWN)
        for argument in [
            *call.args[:1],
            *(word.value for word in call.keywords if word.arg in ("label", "help", "placeholder")),
        ]
        for text in literals(argument)
        if re.search(r"[a-z]{3}", NOT_WORDS.sub("", text))
    ]
    assert bare == []


def test_a_sentence_asked_for_without_a_number_needs_none():
    """Gettext keeps one entry for `_("Remove it")` and `ngettext("Remove it", …)`."""
    plain = [entry.id for entry in collect({"_": None}) if entry.id]
    assert [text for text in plain if fields(ZH.gettext(text)) != fields(text)] == []


def test_forms_follow_the_number():
    sentence = ("{count} page", "{count} pages")
    en = Catalogue.load("en")
    assert [en.ngettext(*sentence, n) for n in (0, 1, 2)] == [sentence[1], *sentence]
    assert {ZH.ngettext(*sentence, n).format(count=n) for n in (0, 1, 2)} == {
        "0 页",
        "1 页",
        "2 页",
    }


def test_english_and_unknown_languages_leave_everything_as_it_is():
    for code in ("en", "xx", "../zh"):
        catalogue = Catalogue.load(code)
        assert catalogue.code == "en"
        assert catalogue.translated("The file is empty.") == "The file is empty."
        assert catalogue.gettext("Stop") == "Stop"


@pytest.mark.parametrize(
    "text",
    ["", "Attention Is All You Need", "12 s", "Home", "3 supported, as we said", "{broken", "%s"],
)
def test_what_core_does_not_say_comes_back_as_it_is(text):
    assert ZH.translated(text) == text


def test_a_sentence_within_a_sentence_is_translated_too():
    assert ZH.translated("3 supported, 1 contradicted, 2 invented numbers removed") == (
        "支持 3 句，矛盾 1 句，删去 2 个虚构的引用编号"
    )
    reason = "Cohere refused the key in COHERE_API_KEY."
    assert ZH.translated(f"Reranking failed, so the order is the fused one: {reason}") == (
        "重排失败，结果保持融合排序：Cohere 拒绝了 COHERE_API_KEY 中的密钥。"
    )


@pytest.mark.parametrize("sentence", [s for s in OF_CORE if "{" not in s])
def test_a_finished_sentence_without_values_is_translated(sentence):
    assert ZH.translated(sentence) == ZH.gettext(sentence)
    assert ZH.translated(sentence) != sentence


@settings(max_examples=1000, deadline=None, derandomize=True)
@given(finished())
def test_a_finished_sentence_is_translated_with_its_values(case):
    """No other template takes the sentence for its own, whatever the values are."""
    template, values = case
    assert ZH.translated(say(template, **values)) == said(template, values)


def page() -> None:
    import streamlit

    from ui.language import _, current_language, remember_language, use_language

    told = streamlit.session_state
    if "remembered" in told:
        remember_language(told["remembered"])
    if "choice" in told:
        use_language(told["choice"])
    streamlit.text(f"{current_language()} {_('Stop')}")


@pytest.mark.parametrize(
    ("asked", "remembered", "choice", "shown"),
    [
        (None, None, None, "en Stop"),
        (None, "zh", None, "zh 停止"),
        ("zh-CN", "en", None, "zh 停止"),
        ("zh", "zh", "en", "en Stop"),
        ("fr", None, "no such language", "en Stop"),
    ],
)
def test_the_choice_goes_before_the_address_and_that_before_memory(
    asked, remembered, choice, shown
):
    run = AppTest.from_function(page)
    if asked:
        run.query_params["lang"] = asked
    if remembered:
        run.session_state["remembered"] = remembered
    if choice:
        run.session_state["choice"] = choice
    assert run.run().text[0].value == shown
    run.query_params.clear()
    assert run.run().text[0].value == shown, "lost with the address"


@pytest.mark.parametrize(
    ("browser", "shown"),
    [
        ("zh-CN", "zh 停止"),
        ("zh_TW", "zh 停止"),
        ("en-GB", "en Stop"),
        ("fr", "en Stop"),
        ("", "en Stop"),
    ],
)
def test_the_browser_s_language_is_taken_when_nothing_was_chosen(browser, shown, monkeypatch):
    monkeypatch.setattr("streamlit.runtime.context._context_info_field", lambda _: browser)
    assert AppTest.from_function(page).run().text[0].value == shown


def test_where_there_is_no_page_english_is_spoken():
    assert current_language() == "en"
    assert translated("The file is empty.") == "The file is empty."
