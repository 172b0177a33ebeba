"""The tool that finds passages in the papers a user has."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from core.errors import BadInput, NotFound
from core.tools.envelope import ToolFailure
from core.tools.registry import tool
from core.tools.toolbox import Toolbox
from core.types import Scope
from core.wording import say


class Wanted(BaseModel):
    """What is looked for, and in which papers."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=1, max_length=1000)
    papers: tuple[str, ...] = Field(
        (), max_length=50, description="Ids of papers of the library; none means all of it."
    )
    number: int = Field(8, ge=1, le=50, description="How many passages at most.")


@tool(
    Wanted,
    source="library",
    about="Find passages in the papers that are in the user's library, with page and section.",
)
def search_library(box: Toolbox, wanted: Wanted) -> dict[str, Any]:
    """Return passages, best first.

    Data: `passages`, each with `chunk_id`, `paper_id`, `title`, `page`, `section`, `text`, `scores`.

    Raises:
        ToolFailure: INVALID_ARGS, NOT_FOUND for a paper that is not in the library, EMPTY_RESULT.
    """
    try:
        scope = Scope(box.user_id, _papers(box, wanted))
        hits = box.searcher().search(wanted.query, scope, wanted.number).hits
    except NotFound as error:
        hint = say("Leave the papers out to search the whole library.")
        raise ToolFailure("NOT_FOUND", error.message, hint) from error
    except BadInput as error:
        raise ToolFailure("INVALID_ARGS", error.message, error.hint) from error
    if not hits:
        raise ToolFailure(
            "EMPTY_RESULT",
            say("Nothing in the library speaks of this."),
            say("Use other words, or search for papers to add."),
        )
    return {
        "passages": [
            {
                "chunk_id": hit.chunk.id,
                "paper_id": str(hit.chunk.paper_id),
                "title": hit.title,
                "page": hit.chunk.page,
                "section": hit.chunk.section,
                "text": hit.chunk.text,
                "scores": hit.scores.to_json(),
            }
            for hit in hits
        ]
    }


def _papers(box: Toolbox, wanted: Wanted) -> tuple[Any, ...] | None:
    if not wanted.papers:
        return None
    return tuple(box.papers().resolve(box.user_id, name) for name in wanted.papers)
