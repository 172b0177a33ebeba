"""arXiv ids and DOIs as people paste them: recognised and brought to one form."""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote, urlsplit

from core.errors import BadInput
from core.types import PaperMeta
from core.wording import say

IdentifierKind = Literal["arxiv", "doi"]

_NEW = r"\d{4}\.\d{4,5}"
_OLD = r"[a-z-]{2,10}(?:\.[a-z]{2})?/\d{7}"
_ARXIV = re.compile(
    rf"(?:arxiv\s*[:.]?\s*)?(?P<id>{_NEW}|{_OLD})(?:v(?P<version>\d{{1,3}}))?", re.I
)
_PATH = re.compile(r"/(?:abs|pdf|html|format|src|e-print)/(?P<id>.+?)(?:\.pdf)?/?", re.I)
_DOI = re.compile(r"(?:doi\s*[:.]?\s*)?(?P<doi>10\.\d{4,9}/\S+)", re.I)
_DOI_OF_ARXIV = re.compile(rf"10\.48550/arxiv\.(?P<id>{_NEW}|{_OLD})", re.I)
_ARXIV_HOSTS = (
    "arxiv.org",
    "www.arxiv.org",
    "export.arxiv.org",
    "ar5iv.org",
    "ar5iv.labs.arxiv.org",
)
_DOI_HOSTS = ("doi.org", "www.doi.org", "dx.doi.org")
LONGEST = 500


@dataclass(frozen=True, slots=True)
class Identifier:
    """An identifier in one form: `value` is lower case, without address, prefix or version.

    `version` of an arXiv id is 0 when none is given: the newest is meant.
    """

    kind: IdentifierKind
    value: str
    version: int = 0


def recognise(text: str) -> Identifier:
    """Return the identifier a person pasted.

    Takes arXiv ids of both forms with or without version, DOIs, and their addresses
    (arxiv.org/abs, /pdf, /html; doi.org). A DOI that arXiv gave is the arXiv id.

    Raises:
        BadInput: it is none of these.
    """
    wanted = " ".join(text.split())[:LONGEST].strip(" <>\"'“”,;")
    if re.match(r"https?://|(?:www\.|export\.)?arxiv\.org/|(?:dx\.)?doi\.org/", wanted, re.I):
        found = _of_address(wanted)
    else:
        found = _of_arxiv(wanted) or _of_doi(wanted)
    if found is None:
        raise BadInput(
            say("This is no DOI, arXiv id or arXiv address."),
            hint=say("Examples: 1706.03762, arXiv:hep-th/9901001v2, 10.1145/3292500.3330701."),
            code="NOT_AN_IDENTIFIER",
        )
    return found


def stands_for(identifier: Identifier, meta: PaperMeta) -> bool:
    """Return whether an identifier is that of a paper."""
    if identifier.kind == "doi":
        return bool(meta.doi) and doi(meta.doi) == identifier.value
    return bool(meta.arxiv_id) and arxiv_id(meta.arxiv_id) == identifier.value


def arxiv_id(text: str) -> str:
    """Return an arXiv id in one form, without version; '' when it is none."""
    found = _of_arxiv(text.strip())
    return found.value if found else ""


def doi(text: str) -> str:
    """Return a DOI in one form: lower case, without address or prefix; '' when it is none."""
    bare = re.sub(r"^https?://(?:dx\.|www\.)?doi\.org/", "", text.strip(), flags=re.I)
    match = _DOI.fullmatch(bare)
    return _ended(match["doi"]) if match else ""


def _of_address(address: str) -> Identifier | None:
    try:
        parts = urlsplit(address if "://" in address else f"https://{address}")
    except ValueError:  # no address at all
        return None
    host, path = (parts.hostname or "").lower(), unquote(parts.path)
    if host in _DOI_HOSTS:
        return _of_doi(path.lstrip("/"))
    if host in _ARXIV_HOSTS:
        match = _PATH.fullmatch(path)
        return _of_arxiv(match["id"]) if match else None
    match = re.search(r"10\.\d{4,9}/[^\s?#]+", path)  # a publisher's page names its DOI
    return _of_doi(match.group()) if match else None


def _of_arxiv(text: str) -> Identifier | None:
    match = _ARXIV.fullmatch(re.sub(r"\s*\[[a-z.-]+\]$", "", text, flags=re.I))
    if match is None:
        return None
    # math.AG/0301001 is math/0301001 in the archive
    value = re.sub(r"\.[a-z]{2}/", "/", match["id"].lower())
    return Identifier("arxiv", value, int(match["version"] or 0))


def _of_doi(text: str) -> Identifier | None:
    match = _DOI.fullmatch(text)
    if match is None:
        return None
    value = _ended(match["doi"])
    arxiv = _DOI_OF_ARXIV.fullmatch(value)
    return _of_arxiv(arxiv["id"]) if arxiv else Identifier("doi", value)


def _ended(text: str) -> str:
    """Return a DOI in lower case without the punctuation of the sentence it stood in."""
    value = text.lower().rstrip(".,;:")
    for opening, closing in ("()", "[]", "<>"):
        while value.endswith(closing) and value.count(closing) > value.count(opening):
            value = value[:-1]
    return value
