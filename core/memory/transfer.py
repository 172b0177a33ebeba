"""Readings as a JSON file, to keep or to take elsewhere."""

import json
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from core.errors import BadInput
from core.memory.readings import Reading
from core.wording import say

FORMAT = "lectern-readings-1"
MOST_BYTES = 20_000_000
LONGEST_SUMMARY = 20_000
"""Characters."""


class Entry(BaseModel):
    """A reading in a file; what a later version writes besides is ignored."""

    model_config = ConfigDict(extra="ignore")

    paper_id: UUID
    title: str = Field(min_length=1, max_length=2_000, pattern=r"\S")
    summary: str = Field(max_length=LONGEST_SUMMARY)
    read_at: AwareDatetime
    model_name: str = Field(default="", max_length=200)


class _File(BaseModel):
    format: str
    readings: list[Entry]


def written(readings: Sequence[Reading]) -> bytes:
    """Return readings as a file that `entries` takes."""
    rows = [row.to_json() | {"model_name": row.model_name} for row in readings]
    return json.dumps({"format": FORMAT, "readings": rows}, ensure_ascii=False, indent=2).encode()


def entries(data: bytes) -> list[Entry]:
    """Return the readings of a file, of each paper the latest.

    Raises:
        BadInput: it is no such file, or too large.
    """
    if len(data) > MOST_BYTES:
        raise BadInput(
            say("The file of readings is larger than {most:d} MB.", most=MOST_BYTES // 10**6)
        )
    try:
        found = _File.model_validate_json(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "JSON"
        raise BadInput(
            say("This is no file of readings: {what} cannot be used.", what=where),
            hint=say("Choose a file that Lectern exported; nothing was added."),
        ) from None
    if found.format != FORMAT:
        raise BadInput(
            say("This file of readings is of a kind that this Lectern does not know."),
            hint=say("Choose a file that Lectern exported; nothing was added."),
        )
    latest: dict[UUID, Entry] = {}
    for entry in sorted(found.readings, key=_when):
        latest[entry.paper_id] = entry
    return list(latest.values())


def _when(entry: Entry) -> datetime:
    return entry.read_at
