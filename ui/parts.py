"""Draws an answer: its text, tables and claims in one component, figures and data beside them."""

import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st
from PIL import Image

from core.errors import LecternError
from core.evidence.numbering import defuse, strip
from core.exports import cells_to_csv, table_to_csv
from core.numbers import numeric
from ui.components import AnswerLabels, AnswerPart, answer_text, paragraph_starts
from ui.evidence import cite, cited
from ui.frame import Session
from ui.language import _, translated
from ui.resources import page_picture
from ui.safe import plain
from ui.turnview import TurnView

SHOWN_ALONE = ("figure", "data")
BARS = 40
"""Rows that a bar chart still tells apart."""
MARGIN = 0.01
"""Of a page: left around a figure that is cut out."""


def verdict_words() -> dict[str, str]:
    """Return what the page calls each verdict; a sign stands beside it, never a colour alone."""
    return {
        "supported": _("supported"),
        "partly": _("partly supported"),
        "contradicted": _("contradicted by its passage"),
        "unsupported": _("not supported by a passage"),
    }


def show_answer(session: Session, view: TurnView) -> None:
    """Draw an answer's sentences as its parts arrange them."""
    labels = _labels(view)
    parts = list(enumerate(view.parts)) or [(0, _running_text(view))]
    for alone, run in groupby(parts, lambda numbered: numbered[1]["kind"] in SHOWN_ALONE):
        for at, chunk in _runs(list(run), alone):
            if alone:
                _exhibit(session, view, at, chunk[0], labels)
            else:
                _text(view, f"answer-{view.id}-{at}", chunk, labels)
                _download(view, at, chunk[-1])


def _runs(
    numbered: Sequence[tuple[int, Mapping[str, Any]]], alone: bool
) -> Iterator[tuple[int, list[Mapping[str, Any]]]]:
    """Yield what is drawn at once: exhibits one by one, other parts up to and with a table."""
    run: list[Mapping[str, Any]] = []
    for at, part in numbered:
        run.append(part)
        if alone or part["kind"] == "table" or part is numbered[-1][1]:
            yield at, run
            run = []


def _running_text(view: TurnView) -> dict[str, Any]:
    return {"kind": "text", "title": "", "items": list(range(len(view.sentences)))}


def _text(
    view: TurnView, key: str, parts: Sequence[Mapping[str, Any]], labels: AnswerLabels
) -> None:
    answer_text(
        [_with_sentences(view, part) for part in parts],
        key=key,
        current=cited(view),
        labels=labels,
        shown=view.shown,
        on_open=lambda n: cite(view, n),
    )


def _with_sentences(view: TurnView, part: Mapping[str, Any]) -> AnswerPart:
    title, kind = plain_title(part["title"]), part["kind"]
    if kind == "table":
        rows = [[[_sentence(view, i) for i in cell] for cell in row] for row in part["rows"]]
        return {
            "kind": kind,
            "title": title,
            "columns": part["columns"],
            "heads": part["heads"],
            "rows": rows,
        }
    sentences = [_sentence(view, i) for i in part["items"]]
    if kind == "claims":
        quotes = {citation["n"]: _plain_words(citation["quote"]) for citation in view.citations}
        sentences = [_claim(sentence, quotes) for sentence in sentences]
    elif not view.parts:
        starts = paragraph_starts(view.text)
        if len(starts) == len(sentences):
            pairs = zip(sentences, starts, strict=True)
            sentences = [{**sentence, "paragraph": start} for sentence, start in pairs]
    return {
        "kind": "claims" if kind == "claims" else "text",
        "title": title,
        "sentences": sentences,
    }


def _claim(sentence: dict[str, Any], quotes: Mapping[int, str]) -> dict[str, Any]:
    """Return a claim with the passages to be shown under it: none that it only repeats."""
    said = _plain_words(defuse(strip(sentence["text"])))
    shown = [n for n in sentence["citations"] if defuse(quotes.get(n, "")) != said]
    text = strip(sentence["text"]) if shown else sentence["text"]
    return {**sentence, "text": text, "quoted": shown}


def _plain_words(text: str) -> str:
    return " ".join(text.split())


def plain_title(title: str) -> str:
    """Return a part's title on one line: the component draws it as text."""
    return " ".join(title.split())


def _sentence(view: TurnView, at: int) -> dict[str, Any]:
    sentence = view.sentences[at]
    return {**sentence, "reason": translated(sentence["reason"])}


def _labels(view: TurnView) -> AnswerLabels:
    words = {
        citation["n"]: _("Citation {n}: page {page}, {title}").format(
            n=view.shown.get(citation["n"], citation["n"]),
            page=citation["page"],
            title=citation["title"],
        )
        for citation in view.citations
    }
    return {
        "citations": words,
        "quotes": {citation["n"]: _quoted(citation) for citation in view.citations},
        "verdicts": verdict_words(),
        "removed": _("citations that do not exist were removed: {numbers}"),
    }


def _quoted(citation: Mapping[str, Any]) -> str:
    where = _("page {page}").format(page=citation["page"])
    return f"“{' '.join(citation['quote'].split())}” ({citation['title']}, {where})"


def _download(view: TurnView, at: int, part: Mapping[str, Any]) -> None:
    if part["kind"] == "table":
        _csv(table_to_csv(part, view.sentences), f"csv-{view.id}-{at}", plain_title(part["title"]))


def _csv(data: bytes, key: str, name: str) -> None:
    st.download_button(
        _("Table as CSV"),
        data,
        file_name=f"{name[:60].strip() or 'lectern'}.csv",
        mime="text/csv",
        key=key,
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
    )


# Figures and data


def _exhibit(
    session: Session, view: TurnView, at: int, part: Mapping[str, Any], labels: AnswerLabels
) -> None:
    exhibit = part["exhibit"]
    with st.container(key=f"exhibit-{view.id}-{at}"):
        _text(view, f"answer-{view.id}-{at}", [{**part, "kind": "text"}], labels)
        if exhibit["by_model"]:
            st.caption(
                ":material/warning: "
                + _("Read from the picture by a model: compare it with the figure.")
            )
        if exhibit["rows"]:
            _data(exhibit, f"{view.id}-{at}", plain_title(part["title"]))
        if not exhibit["rows"] or exhibit["by_model"]:
            _figure(session, exhibit)


def _figure(session: Session, exhibit: Mapping[str, Any]) -> None:
    try:
        paper = session.bench.papers.holding(session.user, exhibit["file"])
        page = page_picture(session.bench, session.user, paper, exhibit["page"])
    except LecternError as error:
        st.info(plain(translated(error.message)), icon=":material/info:")
        return
    st.image(_cut_out(page, exhibit["box"]))


def _cut_out(page: bytes, box: Sequence[float]) -> bytes:
    """Return the part of a drawn page inside `box` (fractions of the page), as PNG."""
    with Image.open(io.BytesIO(page)) as picture:
        left, top = (max(0.0, edge - MARGIN) for edge in box[:2])
        right, bottom = (min(1.0, edge + MARGIN) for edge in box[2:])
        width, height = picture.size
        cut = (int(left * width), int(top * height), int(right * width), int(bottom * height))
        out = io.BytesIO()
        picture.crop(cut).save(out, "PNG")
    return out.getvalue()


def _data(exhibit: Mapping[str, Any], key: str, name: str) -> None:
    frame = data_frame(exhibit["rows"])
    shown, plotted = st.tabs([_("Table"), _("Chart")])
    with shown:
        st.dataframe(frame, hide_index=True)
        _csv(cells_to_csv(exhibit["rows"]), f"csv-{key}", name)
    with plotted:
        _chart(frame)


def data_frame(rows: Sequence[Sequence[str]]) -> pd.DataFrame:
    """Return a table's cells under its first row; columns of numbers become numbers."""
    names: list[str] = []
    for at, name in enumerate(rows[0], 1):
        shown = " ".join(name.split()) or str(at)
        names.append(f"{shown} ({at})" if shown in names else shown)
    frame = pd.DataFrame([list(row) for row in rows[1:]], columns=names)
    for name in names[1:]:
        values = [numeric(cell) for cell in frame[name]]
        if values and sum(value is not None for value in values) * 2 > len(values):
            frame[name] = pd.Series(values, dtype="float64")
    return frame


def _chart(frame: pd.DataFrame) -> None:
    numbers = [name for name in frame.columns[1:] if frame[name].dtype.kind == "f"]
    if not numbers or len(frame) < 2:
        st.caption(_("This table has no columns of numbers to plot."))
        return
    first = frame.columns[0]
    data = frame.head(BARS).assign(
        row=[f"{at}. {cell}" for at, cell in enumerate(frame[first][:BARS], 1)]
    )
    long = data.melt(id_vars="row", value_vars=numbers, var_name="column", value_name="value")
    chart = (
        alt.Chart(long)
        .mark_bar()
        .encode(
            x=alt.X("value:Q", title=None),
            y=alt.Y(
                "row:N", sort=None, title=plain_title(str(first)), axis=alt.Axis(labelLimit=160)
            ),
            color=alt.Color("column:N", title=None, legend=alt.Legend(orient="bottom")),
            yOffset=alt.YOffset("column:N", sort=None),
            tooltip=["row:N", "column:N", "value:Q"],
        )
    )
    st.altair_chart(chart)
