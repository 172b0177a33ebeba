"""What specialists look for in a paper, named and asked for in both languages."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Aspect:
    """One thing to be found. `titles` and `queries` are in English and in Chinese.

    A query is worded like the passages that answer it, for retrieval; it is shown to nobody.
    """

    name: str
    titles: tuple[str, str]
    queries: tuple[str, str]

    def title(self, chinese: bool) -> str:
        """Return what a reader of that language sees."""
        return self.titles[chinese]

    def query(self, chinese: bool) -> str:
        """Return the query for a paper in that language."""
        return self.queries[chinese]
