"""The readings as a map and a calendar, and the topics they fall into."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from core.memory.topics import Landscape, Topic
from ui.frame import MEMORY, Session, link
from ui.language import _, ngettext
from ui.recollection import open_reading
from ui.safe import plain

_CHART = "readings-map"
_MOST_LINKS = 8
_MOST_NAMED, _NAME_HIGH = 8, 18
"""Topics that are named under the map, and the pixels each of them takes."""
MOST_DAYS = 31
"""Days of a calendar by day, from the first reading on; over more it goes by month."""
_COLOURS = ("#3b82f6", "#d97706", "#0d9488", "#db2777", "#8b5cf6", "#65a30d", "#0284c7", "#e11d48")
_SHAPES = ("circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "triangle-right")


def show(session: Session) -> None:
    """Draw the map, the calendar and the topics."""
    found = session.bench.memory.landscape(session.user)
    if not found.points:
        st.info(_("The map is being prepared: the readings are embedded again in the background."))
        return
    names = [_name(topic) for topic in found.topics]
    _map(found, names)
    _calendar(found)
    for number, (topic, name) in enumerate(zip(found.topics, names, strict=True)):
        _topic(session, topic, name, number)


def _name(topic: Topic) -> str:
    return " · ".join(topic.terms) or topic.readings[0].title[:60]


def _map(found: Landscape, names: list[str]) -> None:
    st.caption(
        _("Each point is a paper; what is close together says similar things. Click to open.")
    )
    data = pd.DataFrame(
        {
            "x": [point.x for point in found.points],
            "y": [point.y for point in found.points],
            "title": [point.reading.title for point in found.points],
            "day": [point.reading.day for point in found.points],
            "topic": [names[point.topic] for point in found.points],
            "paper": [str(point.reading.paper_id) for point in found.points],
        }
    )
    axis: dict[str, Any] = {"axis": None, "scale": alt.Scale(domain=[-1.15, 1.15])}
    colours = [_COLOURS[at % len(_COLOURS)] for at in range(len(names))]
    shapes = [_SHAPES[at % len(_SHAPES)] for at in range(len(names))]
    named = min(len(names), _MOST_NAMED)
    chart = (
        alt.Chart(data, height=280 + _NAME_HIGH * named)
        .mark_point(size=140, filled=True, opacity=0.85)
        .encode(
            x=alt.X("x:Q", **axis),
            y=alt.Y("y:Q", **axis),
            color=alt.Color(
                "topic:N",
                scale=alt.Scale(domain=names, range=colours),
                # One below the other: beside each other they are cut off on a phone.
                legend=alt.Legend(
                    orient="bottom", title=None, columns=1, labelLimit=300, symbolLimit=named
                ),
            ),
            shape=alt.Shape("topic:N", scale=alt.Scale(domain=names, range=shapes)),
            tooltip=[
                alt.Tooltip("title:N", title=_("Title")),
                alt.Tooltip("day:N", title=_("Read on")),
            ],
        )
        .add_params(alt.selection_point(name="opened", fields=["paper"]))
    )
    # Another key once a reading is open or closed: no point stays chosen that a click would let go.
    key = f"{_CHART}-{open_reading()}"
    st.altair_chart(chart, key=key, on_select=lambda: _clicked(key))


def _clicked(key: str) -> None:
    chosen = st.session_state[key]["selection"].get("opened", [])
    if chosen:
        st.query_params["paper"] = chosen[0]["paper"]


def _calendar(found: Landscape) -> None:
    by_day, counted = count_by_time([point.reading.day for point in found.points])
    st.caption(_("Papers read by day") if by_day else _("Papers read by month"))
    chart = (
        alt.Chart(counted, height=110)
        .mark_bar(size=8, color=_COLOURS[2])
        .encode(
            x=alt.X("when:O", title=None, axis=alt.Axis(labelAngle=0, labelOverlap=True)),
            y=alt.Y("count:Q", title=None, axis=alt.Axis(tickMinStep=1, tickCount=3)),
            tooltip=["when:N", "count:Q"],
        )
    )
    st.altair_chart(chart, key="readings-calendar")


def count_by_time(days: Sequence[str]) -> tuple[bool, pd.DataFrame]:
    """Return whether papers are counted by day (else by month), and the counts, gaps included.

    The table has the columns `when` (`2026-11-30`, `2026-11`) and `count`, from the first to the last.
    """
    read = pd.Series(pd.to_datetime(list(days)))
    by_day = (read.max() - read.min()).days < MOST_DAYS
    kind = "D" if by_day else "M"
    all_of_them = pd.period_range(read.min(), read.max(), freq=kind)
    counted = read.dt.to_period(kind).value_counts().reindex(all_of_them, fill_value=0)
    return by_day, pd.DataFrame({"when": all_of_them.astype(str), "count": counted.to_numpy()})


def _topic(session: Session, topic: Topic, name: str, number: int) -> None:
    count = len(topic.readings)
    papers = ngettext("{count} paper", "{count} papers", count).format(count=count)
    st.markdown(f"**{plain(name)}** · {papers}")
    with st.container(gap="xsmall", key=f"readings-of-{number}"):
        for reading in topic.readings[:_MOST_LINKS]:
            link(
                session,
                MEMORY,
                reading.title,
                icon=":material/history_edu:",
                paper=str(reading.paper_id),
            )
    if count > _MOST_LINKS:
        st.caption(_("and {count} more").format(count=count - _MOST_LINKS))
