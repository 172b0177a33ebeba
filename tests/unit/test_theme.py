"""The theme's own colours can be read: contrast by WCAG 2.2, relative luminance."""

import tomllib

import pytest

from core.memory.transfer import MOST_BYTES
from tests.conftest import ROOT

READABLE = 4.5
"""WCAG 2.2, level AA, for text."""
TEXTS = (
    "textColor",
    "linkColor",
    "greenTextColor",
    "orangeTextColor",
    "redTextColor",
    "grayTextColor",
)
GROUNDS = ("backgroundColor", "secondaryBackgroundColor")


def theme(name):
    return tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"][name]


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_formula():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("ground", GROUNDS)
def test_texts_can_be_read(name, text, ground):
    colours = theme(name)
    assert contrast(colours[text], colours[ground]) >= READABLE


@pytest.mark.parametrize("name", ["light", "dark"])
def test_a_filled_button_can_be_read(name):
    assert contrast(theme(name)["primaryColor"], "#ffffff") >= READABLE


def test_the_chinese_page_names_the_size_that_a_file_of_readings_may_have():
    rules = (ROOT / "ui" / "theme.zh.css").read_text().splitlines()
    (rule,) = [rule for rule in rules if rule.startswith(".st-key-memory-hands")]
    assert f"最大 {MOST_BYTES // 10**6} MB" in rule
