"""The calendar of readings: what it counts, and over which time."""

from ui.landscape import count_by_time


def test_days_without_a_reading_stand_in_the_calendar_too():
    by_day, counted = count_by_time(["2026-11-30", "2026-11-27", "2026-11-30"])
    assert by_day
    assert list(counted["when"]) == ["2026-11-27", "2026-11-28", "2026-11-29", "2026-11-30"]
    assert list(counted["count"]) == [1, 0, 0, 2]


def test_over_more_than_a_month_it_goes_by_month():
    by_day, counted = count_by_time(["2026-12-01", "2026-10-31"])
    assert not by_day
    assert list(zip(counted["when"], counted["count"], strict=True)) == [
        ("2026-10", 1),
        ("2026-11", 0),
        ("2026-12", 1),
    ]
