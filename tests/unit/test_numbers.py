import pytest

from core.numbers import numeric


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("84.3", 84.3),
        ("84.3%", 84.3),
        ("1,234", 1234.0),
        ("12,345.6", 12345.6),
        ("0.91 ± 0.02", 0.91),
        ("0.91 (0.02)", 0.91),
        ("−3", -3.0),
        (".5", 0.5),
        ("1e-5", 1e-5),
        ("12.5*", 12.5),
        ("$3.20", 3.2),
        ("８４．３", 84.3),
        ("35 ms", 35.0),
        ("", None),
        ("—", None),
        ("n/a", None),
        ("BERT", None),
        ("1.2.3", None),
        ("3-5", None),
        ("2017 and later", None),
    ],
)
def test_a_cell_is_a_number_or_not(cell, value):
    assert numeric(cell) == value
