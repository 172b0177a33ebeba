"""The intents table is the single source of the graph."""

import importlib

import pytest

from core.agent.intents import DEFAULT_INTENT, INTENTS, intent, step_after, step_names
from core.errors import BadInput


def test_the_default_is_an_intent():
    assert intent(DEFAULT_INTENT).name == DEFAULT_INTENT


def test_an_unknown_intent_names_those_there_are():
    with pytest.raises(BadInput) as caught:
        intent("poetry")
    assert caught.value.code == "UNKNOWN_INTENT"
    assert all(entry.name in caught.value.hint for entry in INTENTS)


@pytest.mark.parametrize("entry", INTENTS, ids=lambda entry: entry.name)
def test_the_way_is_walked_in_order_to_its_end(entry):
    walked, step = [], step_after(entry.name, None)
    while step:
        walked.append(step)
        step = step_after(entry.name, step)
    assert tuple(walked) == entry.way


@pytest.mark.parametrize("name", step_names())
def test_every_step_is_a_module_with_a_title(name):
    module = importlib.import_module(f"core.agent.nodes.{name}")
    assert module.TITLE
    assert callable(module.run)
