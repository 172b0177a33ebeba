"""A reply as data, or nothing: whatever a model writes."""

import pytest
from pydantic import BaseModel

from core.models.structured import parse


class Form(BaseModel):
    task: str


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ('{"task": "x"}', "x"),
        ('Sure!\n```json\n{"task": "x"}\n```', "x"),
        ('{"task": "a\\u0000b\\ud83d"}', "a\ufffdb\ufffd"),
        ("no json", None),
        ('{"task": 1}', None),
        ('{"task": "x"', None),
        ('{"other": "x"}', None),
        ('{"task":' + "[" * 100_000 + "}", None),
    ],
)
def test_a_reply_is_of_the_shape_or_nothing(text, task):
    found = parse(text, Form)
    assert (found.task if found else None) == task
