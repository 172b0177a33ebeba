"""Papers in Postgres: whole or not at all, and seen only by those who have them.

Reading and writing go through psycopg itself, in binary: a paper's vectors come out in about a
millisecond, as text they would take ten times as long.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.types.json import Jsonb
from sqlalchemy import Connection, Engine

from core.db.engine import database_down, means_down
from core.db.paper_rows import (
    CHUNK_COLUMNS,
    OWN_FIELDS,
    PAPER_ROWS,
    Cursor,
    FileFacts,
    StoredFile,
    Vectors,
    ambiguous,
    check_lengths,
    chunk_of,
    insert_chunks,
    insert_file,
    insert_paper,
    insert_vectors,
    no_page,
    no_such,
    paper_of_file,
    paper_row,
    put_into_library,
    readings,
    to_arrays,
)
from core.db.text import storable, storable_json
from core.types import Chunk, Page, PaperMeta, PaperRow, ParsedPaper, Structure

__all__ = ["FileFacts", "PaperStore", "StoredFile", "no_page"]

_OWN_CHUNK_COLUMNS = "c." + CHUNK_COLUMNS.replace(", ", ", c.")
_NOT_HELD = """
    created_at < %(before)s AND NOT EXISTS (
        SELECT FROM library l WHERE l.paper_id = papers.id
        AND (l.removed_at IS NULL OR l.removed_at >= %(before)s))
"""
_END_OF_PAGES = 2**31
_LIST_MARK = """
    SELECT count(*) || '-' || coalesce(bit_xor(
        hashtextextended(concat_ws(' ', paper_id, added_at, filename, meta), 0)), 0)
    FROM library WHERE user_id = %s AND removed_at IS NULL
"""
_LIST = f"""
    SELECT ({_LIST_MARK}), listed.* FROM ({PAPER_ROWS}) AS listed
    ORDER BY listed.added_at DESC, listed.id
"""  # noqa: S608 - our own two constants
_LISTS = 16
"""Of so many users the list of papers is remembered."""


class PaperStore:
    """All access to papers. Another user's ids behave like ids that do not exist.

    Every method is one transaction, and raises `DatabaseDown` when the server cannot be used.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lists: OrderedDict[UUID, tuple[str, list[PaperRow]]] = OrderedDict()
        self._lists_lock = threading.Lock()

    @property
    def engine(self) -> Engine:
        """The pool, for bulk reads of derived indexes."""
        return self._engine

    def add(
        self,
        user_id: UUID,
        filename: str,
        file: StoredFile,
        parsed: ParsedPaper,
        terms: Sequence[str],
        vectors: Mapping[str, Vectors],
        vectors_of: Sequence[int] | None = None,
    ) -> UUID:
        """Store a paper whole and put it into the user's library; return its id.

        The same bytes are one paper: if they are here already, also by another thread a moment
        ago, that paper is put into the library instead.

        Args:
            user_id: whose library.
            filename: as the user knows the file; folders in it are dropped.
            file: the bytes.
            parsed: what reading them gave.
            terms: BM25 tokens of each chunk, joined by one space.
            vectors: unit vectors by model, one row a chunk; models may be missing.
            vectors_of: positions of the chunks that the vectors stand for, if not all.

        Raises:
            ValueError: when terms or vectors are not one a chunk.
        """
        which = range(len(parsed.chunks)) if vectors_of is None else vectors_of
        check_lengths(parsed, terms, vectors, len(which))
        with self._transaction() as cursor:
            cursor.execute(
                "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"file {file.sha256}"]
            )
            paper_id = paper_of_file(cursor, file.sha256)
            if paper_id is None:
                paper_id = insert_paper(cursor, parsed)
                insert_file(cursor, paper_id, file, parsed.pages)
                ids = insert_chunks(cursor, paper_id, file.sha256, parsed.chunks, terms)
                insert_vectors(cursor, [ids[at] for at in which], vectors)
            put_into_library(cursor, user_id, paper_id, filename)
        return paper_id

    def find_file(self, sha256: str) -> UUID | None:
        """Return the paper that has a file with this SHA-256, in whoever's library."""
        with self._reading() as cursor:
            return paper_of_file(cursor, sha256)

    def add_to_library(self, user_id: UUID, paper_id: UUID, filename: str) -> None:
        """Put a stored paper into a library; undoes a removal. The caller has seen its bytes.

        Raises:
            NotFound: when the paper is not stored (any more).
        """
        with self._transaction() as cursor:
            put_into_library(cursor, user_id, paper_id, filename)

    def remove(self, user_id: UUID, paper_id: UUID) -> None:
        """Take a paper out of a library; `restore` undoes it.

        Raises:
            NotFound: when it is not in the library.
        """
        self._set_removed(user_id, paper_id, "now()", "removed_at IS NULL")

    def restore(self, user_id: UUID, paper_id: UUID) -> None:
        """Undo a removal; does nothing to a paper that was not removed.

        Raises:
            NotFound: when the user never had it, or it has been purged.
        """
        self._set_removed(user_id, paper_id, "NULL", "TRUE")

    def _set_removed(self, user_id: UUID, paper_id: UUID, value: str, condition: str) -> None:
        with self._transaction() as cursor:
            cursor.execute(
                f"UPDATE library SET removed_at = {value} "  # noqa: S608 - our own two constants
                f"WHERE user_id = %s AND paper_id = %s AND {condition}",
                [user_id, paper_id],
            )
            if cursor.rowcount == 0:
                raise no_such(str(paper_id))

    def purge(self, before: datetime) -> int:
        """Delete for good what no library has held since `before`; return how many papers."""
        with self._transaction() as cursor:
            values: dict[str, Any] = {"before": before}
            # Locked first and judged again by a second statement, which sees what a concurrent
            # add_to_library committed while this one waited for it.
            cursor.execute(f"SELECT id FROM papers WHERE {_NOT_HELD} FOR UPDATE", values)  # noqa: S608
            values["ids"] = [row[0] for row in cursor.fetchall()]
            cursor.execute(f"DELETE FROM papers WHERE id = ANY(%(ids)s) AND {_NOT_HELD}", values)  # noqa: S608
            purged = cursor.rowcount
            cursor.execute("DELETE FROM library WHERE removed_at < %(before)s", values)
        return purged

    def add_vectors(self, model: str, ids: Sequence[int], vectors: Vectors) -> None:
        """Store one model's unit vectors, shape (len(ids), dim), replacing any it had.

        Chunks that have been purged meanwhile are passed over.

        Raises:
            ValueError: when there is not one vector a chunk.
        """
        if len(ids) != len(vectors):
            raise ValueError(f"{len(vectors)} vectors for {len(ids)} chunks")
        with self._transaction() as cursor:
            cursor.execute(
                """
                INSERT INTO embeddings (chunk_id, model, dimension, vector)
                SELECT c.id, %s, vector_dims(v.vector), v.vector
                FROM unnest(%s::bigint[], %b::vector[]) AS v (id, vector)
                JOIN chunks c ON c.id = v.id FOR KEY SHARE OF c
                ON CONFLICT (chunk_id, model)
                DO UPDATE SET dimension = excluded.dimension, vector = excluded.vector
                """,
                [model, list(ids), list(vectors)],
            )

    def papers(self, user_id: UUID) -> list[PaperRow]:
        """Return a library's papers, the newest first. `pending_models` is the caller's to fill.

        Every page asks for them, and a stored paper never changes: the list is remembered with a
        mark of the library as of the same moment, and read again when the mark is another.
        """
        with self._reading() as cursor:
            mark = (cursor.execute(_LIST_MARK, [user_id]).fetchone() or ("",))[0]
            with self._lists_lock:
                known_mark, known = self._lists.get(user_id, ("", []))
            if known_mark == mark:
                return list(known)
            found = cursor.execute(_LIST, [user_id, user_id]).fetchall()
        rows = [paper_row(row[1:]) for row in found]
        if found:
            self._remember(user_id, found[0][0], rows)
        return list(rows)

    def _remember(self, user_id: UUID, mark: str, rows: list[PaperRow]) -> None:
        with self._lists_lock:
            self._lists[user_id] = (mark, rows)
            self._lists.move_to_end(user_id)
            while len(self._lists) > _LISTS:
                self._lists.popitem(last=False)

    def paper(self, user_id: UUID, paper_id: UUID) -> PaperRow:
        """Return one paper of a library.

        Raises:
            NotFound: when it is not in it.
        """
        with self._reading() as cursor:
            row = cursor.execute(f"{PAPER_ROWS} AND p.id = %s", [user_id, paper_id]).fetchone()
        if row is None:
            raise no_such(str(paper_id))
        return paper_row(row)

    def set_meta(self, user_id: UUID, paper_id: UUID, meta: PaperMeta) -> None:
        """Set what the user knows of a paper: its filled fields hide what the file says.

        It holds in this library only. Other fields stay as they were set; an empty `meta` takes
        all back. Title, authors, year, abstract, DOI and arXiv id can be set.

        Raises:
            NotFound: when the paper is not in the library.
        """
        given = {name: getattr(meta, name) for name in OWN_FIELDS if getattr(meta, name)}
        with self._transaction() as cursor:
            cursor.execute(
                "UPDATE library SET meta = coalesce(meta, '{}') || %s::jsonb "
                "WHERE user_id = %s AND paper_id = %s AND removed_at IS NULL",
                [Jsonb(storable_json(given)) if given else None, user_id, paper_id],
            )
            if cursor.rowcount == 0:
                raise no_such(str(paper_id))

    def structure(self, user_id: UUID, paper_id: UUID) -> Structure | None:
        """Return a paper's sections, references, tables and figures.

        None when an earlier version stored the paper and never looked for them.

        Raises:
            NotFound: when it is not in the library.
        """
        with self._reading() as cursor:
            row = cursor.execute(
                "SELECT p.structure FROM library l JOIN papers p ON p.id = l.paper_id "
                "WHERE l.user_id = %s AND l.removed_at IS NULL AND p.id = %s",
                [user_id, paper_id],
            ).fetchone()
        if row is None:
            raise no_such(str(paper_id))
        return Structure.from_json(row[0]) if row[0] else None

    def fill_structure(self, user_id: UUID, paper_id: UUID, structure: Structure) -> None:
        """Store the structure of a paper that has none yet; all who have the paper see it.

        Raises:
            NotFound: when it is not in the library.
        """
        with self._transaction() as cursor:
            row = cursor.execute(
                "SELECT p.structure = '{}' FROM library l JOIN papers p ON p.id = l.paper_id "
                "WHERE l.user_id = %s AND l.removed_at IS NULL AND p.id = %s FOR UPDATE OF p",
                [user_id, paper_id],
            ).fetchone()
            if row is None:
                raise no_such(str(paper_id))
            if row[0]:
                cursor.execute(
                    "UPDATE papers SET structure = %s WHERE id = %s",
                    [Jsonb(storable_json(structure.to_json())), paper_id],
                )

    def resolve(self, user_id: UUID, text: str) -> UUID:
        """Return the paper of the library that a person means by `text`.

        That is an id, the SHA-256 or the name of an added file, or the beginning of an id (4
        characters or more) that fits only one.

        Raises:
            NotFound: when nothing fits.
            BadInput: when several papers fit.
        """
        wanted = storable(text).strip()
        with self._reading() as cursor:
            for condition, value in readings(wanted):
                cursor.execute(
                    "SELECT paper_id FROM library WHERE user_id = %s AND removed_at IS NULL "  # noqa: S608
                    f"AND {condition} ORDER BY added_at, paper_id",
                    [user_id, value],
                )
                found = [row[0] for row in cursor]
                if len(found) > 1:
                    raise ambiguous(wanted, found)
                if found:
                    return UUID(str(found[0]))
        raise no_such(wanted)

    def library(self, user_id: UUID, paper_ids: Sequence[UUID] | None = None) -> tuple[UUID, ...]:
        """Return the papers of a library, the oldest first; with `paper_ids`: those, in their order.

        Raises:
            NotFound: when one of `paper_ids` is not in it.
        """
        with self._reading() as cursor:
            cursor.execute(
                "SELECT paper_id FROM library WHERE user_id = %s AND removed_at IS NULL "
                "AND (%s::uuid[] IS NULL OR paper_id = ANY(%s)) ORDER BY added_at, paper_id",
                [user_id, None if paper_ids is None else list(paper_ids), list(paper_ids or ())],
            )
            found = tuple(row[0] for row in cursor)
        if paper_ids is None:
            return found
        for missing in set(paper_ids).difference(found):
            raise no_such(str(missing))
        return tuple(dict.fromkeys(paper_ids))

    def characters(self, user_id: UUID, paper_ids: Sequence[UUID] | None) -> dict[str, int]:
        """Return how many characters the papers of a scope have in all, by language."""
        chosen = "" if paper_ids is None else "AND l.paper_id = ANY(%(papers)s)"
        query = f"""
            SELECT p.language, sum(f.characters)
            FROM library l JOIN papers p ON p.id = l.paper_id JOIN files f ON f.paper_id = p.id
            WHERE l.user_id = %(user)s AND l.removed_at IS NULL {chosen}
            GROUP BY p.language
        """  # noqa: S608 - no text of anybody in it
        values = {"user": user_id, "papers": list(paper_ids or ())}
        with self._transaction() as cursor:
            return {language: int(total) for language, total in cursor.execute(query, values)}

    def library_version(self, user_id: UUID) -> str:
        """Return a mark of the library's set of papers: equal sets, equal marks."""
        with self._reading() as cursor:
            row = cursor.execute(
                "SELECT count(*), coalesce(bit_xor(uuid_hash_extended(paper_id, 0)), 0) "
                "FROM library WHERE user_id = %s AND removed_at IS NULL",
                [user_id],
            ).fetchone()
        return "-".join(str(value) for value in row or ())

    def chunks(self, paper_ids: Sequence[UUID], *, references: bool = False) -> list[Chunk]:
        """Return the papers' chunks by paper id and reading order."""
        return [chunk_of(row) for row in self._chunk_rows(CHUNK_COLUMNS, paper_ids, references)]

    def terms(
        self, paper_ids: Sequence[UUID], *, references: bool = False
    ) -> list[tuple[int, str]]:
        """Return (chunk id, BM25 tokens joined by one space) in the order of `chunks`."""
        return [(row[0], row[1]) for row in self._chunk_rows("id, terms", paper_ids, references)]

    def _chunk_rows(
        self, columns: str, paper_ids: Sequence[UUID], references: bool
    ) -> list[tuple[Any, ...]]:
        with self._reading() as cursor:
            cursor.execute(
                f"SELECT {columns} FROM chunks WHERE paper_id = ANY(%s) "  # noqa: S608
                "AND (%s OR kind <> 'references') ORDER BY paper_id, ordinal",
                [list(paper_ids), references],
            )
            return cursor.fetchall()

    def chunks_by_id(self, ids: Sequence[int], *, spans: bool = True) -> dict[int, Chunk]:
        """Return those of the chunks that (still) exist; reading no spans is ten times as fast."""
        columns = CHUNK_COLUMNS if spans else CHUNK_COLUMNS.replace("spans", "'[]'::jsonb")
        with self._reading() as cursor:
            cursor.execute(
                f"SELECT {columns} FROM chunks WHERE id = ANY(%s)",  # noqa: S608
                [[int(number) for number in ids]],
            )
            return {row[0]: chunk_of(row) for row in cursor}

    def titles(self, paper_ids: Sequence[UUID], user_id: UUID | None = None) -> dict[UUID, str]:
        """Return the papers' titles: those a user gave them, else what their files say."""
        with self._reading() as cursor:
            cursor.execute(
                "SELECT p.id, coalesce(l.meta ->> 'title', p.title) FROM papers p "
                "LEFT JOIN library l ON l.paper_id = p.id AND l.user_id = %s "
                "WHERE p.id = ANY(%s)",
                [user_id, list(paper_ids)],
            )
            return dict(cursor.fetchall())

    def vectors(self, paper_ids: Sequence[UUID], model: str) -> tuple[NDArray[np.int64], Vectors]:
        """Return chunk ids, shape (n,), and one model's unit vectors, shape (n, dim), of papers.

        In the order of `chunks`, references included, without the chunks that have no vector yet.
        If the model's dimension has changed, only vectors of its newest dimension are returned.
        """
        with self._reading() as cursor:
            cursor.execute(
                "SELECT id FROM chunks WHERE paper_id = ANY(%s) ORDER BY paper_id, ordinal",
                [list(paper_ids)],
            )
            order = [row[0] for row in cursor]
            # Not one query: sorting and joining rows with vectors in them spills to disk.
            cursor.execute(
                "SELECT chunk_id, vector_send(vector) FROM embeddings "
                "WHERE model = %s AND chunk_id = ANY(%s)",
                [model, order],
            )
            found = dict(cursor.fetchall())
        return to_arrays([(number, found[number]) for number in order if number in found])

    def missing_vectors(self, model: str, limit: int) -> list[tuple[int, str]]:
        """Return up to `limit` chunks, as (id, text), that lack this model's vector."""
        with self._reading() as cursor:
            cursor.execute(
                "SELECT c.id, c.text FROM chunks c WHERE NOT EXISTS (SELECT FROM embeddings e "
                "WHERE e.chunk_id = c.id AND e.model = %s) ORDER BY c.id LIMIT %s",
                [model, limit],
            )
            return cursor.fetchall()

    def vector_counts(self, paper_ids: Sequence[UUID]) -> dict[UUID, dict[str, int]]:
        """Return how many vectors each paper has by model; a path is complete at its chunk count."""
        counts: dict[UUID, dict[str, int]] = {paper_id: {} for paper_id in paper_ids}
        with self._reading() as cursor:
            cursor.execute(
                "SELECT c.paper_id, e.model, count(*) FROM chunks c JOIN embeddings e "
                "ON e.chunk_id = c.id WHERE c.paper_id = ANY(%s) GROUP BY 1, 2",
                [list(paper_ids)],
            )
            for paper_id, model, number in cursor:
                counts[paper_id][model] = number
        return counts

    def pages(self, user_id: UUID, paper_id: UUID) -> list[Page]:
        """Return a paper's pages in order.

        Raises:
            NotFound: when it is not in the library.
        """
        with self._reading() as cursor:
            cursor.execute(
                "SELECT p.number, p.width, p.height, p.text, p.label "
                "FROM library l JOIN files f ON f.paper_id = l.paper_id "
                "LEFT JOIN pages p ON p.file = f.sha256 "
                "WHERE l.user_id = %s AND l.paper_id = %s AND l.removed_at IS NULL "
                "ORDER BY p.number",
                [user_id, paper_id],
            )
            rows = cursor.fetchall()
        if not rows:
            raise no_such(str(paper_id))
        return [Page(*row) for row in rows if row[0] is not None]

    def file(self, user_id: UUID, paper_id: UUID) -> StoredFile:
        """Return a paper's file with its bytes.

        Raises:
            NotFound: when it is not in the library.
        """
        with self._reading() as cursor:
            row = cursor.execute(
                "SELECT f.sha256, f.data, f.size, f.media_type "
                "FROM library l JOIN files f ON f.paper_id = l.paper_id "
                "WHERE l.user_id = %s AND l.paper_id = %s AND l.removed_at IS NULL",
                [user_id, paper_id],
            ).fetchone()
        if row is None:
            raise no_such(str(paper_id))
        return StoredFile(*row)

    def file_facts(self, user_id: UUID, paper_id: UUID) -> FileFacts:
        """Return what is known of a paper's file, without its bytes.

        Raises:
            NotFound: when it is not in the library.
        """
        with self._reading() as cursor:
            row = cursor.execute(
                "SELECT f.sha256, f.media_type, "
                "(SELECT count(*) FROM pages WHERE pages.file = f.sha256) "
                "FROM library l JOIN files f ON f.paper_id = l.paper_id "
                "WHERE l.user_id = %s AND l.paper_id = %s AND l.removed_at IS NULL",
                [user_id, paper_id],
            ).fetchone()
        if row is None:
            raise no_such(str(paper_id))
        return FileFacts(*row)

    def holding(self, user_id: UUID, sha256: str) -> UUID:
        """Return the paper of the library that has this file, read again or not since.

        Raises:
            NotFound: when none has.
        """
        with self._reading() as cursor:
            row = cursor.execute(
                "SELECT l.paper_id FROM library l JOIN files f ON f.paper_id = l.paper_id "
                "WHERE l.user_id = %s AND f.sha256 = %s AND l.removed_at IS NULL",
                [user_id, storable(sha256)],
            ).fetchone()
        if row is None:
            raise no_such(sha256)
        return UUID(str(row[0]))

    def page(self, user_id: UUID, paper_id: UUID, number: int) -> Page:
        """Return one page of a paper, counted from 1.

        Raises:
            NotFound: when the paper is not in the library or has no such page.
        """
        with self._reading() as cursor:
            row = cursor.execute(
                "SELECT p.number, p.width, p.height, p.text, p.label "
                "FROM library l JOIN files f ON f.paper_id = l.paper_id "
                "JOIN pages p ON p.file = f.sha256 "
                "WHERE l.user_id = %s AND l.paper_id = %s AND l.removed_at IS NULL "
                "AND p.number = %s",
                [user_id, paper_id, number if 0 < number < _END_OF_PAGES else 0],
            ).fetchone()
        if row is None:
            raise no_page(number)
        return Page(*row)

    def page_chunks(
        self, user_id: UUID, paper_id: UUID, pages: Sequence[int] | None = None
    ) -> list[Chunk]:
        """Return the chunks of some pages (None: of all), in reading order, references included.

        Nothing for a paper that is not in the library.
        """
        wanted = [number for number in pages or () if 0 < number < _END_OF_PAGES]
        with self._reading() as cursor:
            cursor.execute(
                f"SELECT {_OWN_CHUNK_COLUMNS} FROM library l "  # noqa: S608
                "JOIN chunks c ON c.paper_id = l.paper_id "
                "WHERE l.user_id = %s AND l.paper_id = %s AND l.removed_at IS NULL "
                "AND (%s OR c.page = ANY(%s)) ORDER BY c.ordinal",
                [user_id, paper_id, pages is None, wanted],
            )
            return [chunk_of(row) for row in cursor]

    def sections(self, user_id: UUID, paper_id: UUID) -> list[tuple[str, int]]:
        """Return the section and page of each chunk that is in a section, in reading order.

        Nothing for a paper that is not in the library.
        """
        with self._reading() as cursor:
            cursor.execute(
                "SELECT c.section, c.page FROM library l "
                "JOIN chunks c ON c.paper_id = l.paper_id "
                "WHERE l.user_id = %s AND l.paper_id = %s AND l.removed_at IS NULL "
                "AND c.section <> '' ORDER BY c.ordinal",
                [user_id, paper_id],
            )
            return cursor.fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[Cursor]:
        """Yield a cursor whose work is committed at the end, or undone by any exception."""
        with self._engine.begin() as connection, _cursor(connection) as cursor:
            yield cursor

    @contextmanager
    def _reading(self) -> Iterator[Cursor]:
        """Yield a cursor outside any transaction, which saves two round trips."""
        with self._engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT")
            with _cursor(connection) as cursor:
                yield cursor


@contextmanager
def _cursor(connection: Connection) -> Iterator[Cursor]:
    """Yield psycopg's own cursor of a connection, its results in binary."""
    driver = connection.connection.driver_connection
    if not isinstance(driver, psycopg.Connection):
        raise TypeError("PaperStore needs an engine of core.db.engine.make_engine")
    try:
        with driver.cursor(binary=True) as cursor:
            yield cursor
    except psycopg.OperationalError as error:
        if not means_down(error):
            raise
        connection.invalidate(error)
        raise database_down(error) from error
