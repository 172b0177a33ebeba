"""What a reader wants reviewed."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from core.db.text import storable
from core.tools.arxiv_search import FIRST_YEAR, LAST_YEAR
from core.wording import say

MOST_PAPERS = 30


class ReviewRequest(BaseModel):
    """A topic, in Chinese or English, and which papers on it: from arXiv or from the library.

    `top`: how many of the most relevant ones are chosen at first. `number`: how many are looked at.
    `confirm`: whether the reader chooses from what was found before anything is fetched.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    topic: str = Field(min_length=2, max_length=300)
    source: Literal["arxiv", "library"] = "arxiv"
    top: int = Field(8, ge=1, le=MOST_PAPERS)
    number: int = Field(30, ge=1, le=100)
    year_from: int | None = Field(None, ge=FIRST_YEAR, le=LAST_YEAR)
    year_to: int | None = Field(None, ge=FIRST_YEAR, le=LAST_YEAR)
    categories: tuple[str, ...] = ()
    confirm: bool = True

    @field_validator("topic")
    @classmethod
    def _in_words(cls, topic: str) -> str:
        topic = " ".join(storable(topic).split())
        if sum(character.isalnum() for character in topic) < 2:
            raise ValueError(say("the topic has no words"))
        return topic

    @model_validator(mode="after")
    def _years_in_order(self) -> "ReviewRequest":
        if self.year_from and self.year_to and self.year_from > self.year_to:
            raise ValueError(say("the years are the wrong way round"))
        return self
