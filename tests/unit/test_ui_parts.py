"""A paper's table as a data frame, and a figure cut out of its page."""

import io

from PIL import Image

from core.types import Box
from ui.parts import _cut_out, data_frame


def test_columns_of_numbers_become_numbers_and_names_differ():
    frame = data_frame(
        [["Model", "Acc", "Acc", ""], ["A", "84.3%", "n/a", "x"], ["B", "1,200", "3", "y"]]
    )
    assert list(frame.columns) == ["Model", "Acc", "Acc (3)", "4"]
    assert frame["Acc"].tolist() == [84.3, 1200.0]
    assert frame["Acc (3)"].tolist() == ["n/a", "3"]
    assert frame["Model"].tolist() == ["A", "B"]


def test_a_table_of_a_head_alone_is_empty():
    assert data_frame([["a", "b"]]).shape == (0, 2)


def test_a_figure_is_the_part_of_the_page_in_its_box():
    page = Image.new("RGB", (200, 400), "white")
    page.paste((255, 0, 0), (50, 100, 150, 200))
    out = io.BytesIO()
    page.save(out, "PNG")
    with Image.open(io.BytesIO(_cut_out(out.getvalue(), Box(0.25, 0.25, 0.75, 0.5)))) as figure:
        assert figure.size == (104, 108)
        assert figure.getpixel((52, 54)) == (255, 0, 0)
