"""What a paper is compared by: the vector of its title and what it says in brief."""

from collections.abc import Sequence
from uuid import UUID

import numpy as np

from core.db.papers import PaperStore
from core.evidence.sentences import split_sentences
from core.models.embed import Embedder, Vectors
from core.types import Chunk

HEAD = 2_000
"""Characters of a paper's beginning that stand for it where it has no abstract."""


def text_of(title: str, about: str) -> str:
    """Return what is embedded of a paper: the title, and what it says in at most 2,000 characters."""
    return f"{title}\n{about[:HEAD]}"


def paper_vector(papers: PaperStore, embedder: Embedder, user_id: UUID, paper_id: UUID) -> Vectors:
    """Return the vector of a paper in the user's library, of unit length, shape (dimension,).

    Raises:
        Unavailable: the embedder cannot be used.
        NotFound: the paper is not in the user's library.
    """
    row = papers.paper(user_id, paper_id)
    about = row.meta.abstract or beginning(papers.page_chunks(user_id, paper_id))
    return np.asarray(embedder.encode([text_of(row.meta.title or row.filename, about)])[0])


def beginning(chunks: Sequence[Chunk]) -> str:
    """Return how a paper's own text begins."""
    own = [chunk.text for chunk in chunks if chunk.kind == "body"]
    return "\n".join(own[:4])[:HEAD]


def whole_sentences(text: str, most: int) -> str:
    """Return as many of a text's sentences as fit into `most` characters, at least a part of one."""
    ends = [end for _, end in split_sentences(text) if end <= most]
    return text[: ends[-1] if ends else most].strip()
