"""Every failure Lectern expects, as one tree. A message says what happened; a hint, what to do.

LecternError
├── BadInput            the user can fix it: a file, a question, an id
│   ├── UnreadableFile  a file that cannot become a paper
│   └── NotFound        no such paper, file or conversation (or it is another user's)
├── Unavailable         a part that is down, missing or refused
│   ├── DatabaseDown
│   ├── ModelFailed     the chat model refused, broke off or answered nonsense
│   └── RerankFailed
└── Cancelled           the user stopped it
"""


class LecternError(Exception):
    """A failure with a stable code for programs and a sentence and a hint for people."""

    code = "INTERNAL_ERROR"
    hint = ""

    def __init__(self, message: str, *, hint: str = "", code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint or type(self).hint
        self.code = code or type(self).code

    def to_json(self) -> dict[str, str]:
        """Return the failure as every JSON output of Lectern shows it."""
        return {"code": self.code, "message": self.message, "hint": self.hint}


class BadInput(LecternError):
    """The input cannot be used as it is."""

    code = "BAD_INPUT"


class UnreadableFile(BadInput):
    """A file that cannot become a paper.

    Codes: EMPTY_FILE, NOT_A_PDF (nor any other kind that can be read), DAMAGED, PASSWORD_NEEDED,
    PASSWORD_WRONG, NO_TEXT, TOO_LARGE, TOO_SLOW.
    """

    code = "UNREADABLE_FILE"


class NotFound(BadInput):
    """Nothing by that id in this user's library."""

    code = "NOT_FOUND"


class Unavailable(LecternError):
    """A part Lectern works with cannot be used now."""

    code = "UNAVAILABLE"


class DatabaseDown(Unavailable):
    """Postgres cannot be reached or started."""

    code = "DATABASE_DOWN"


class ModelFailed(Unavailable):
    """The chat model gave no usable answer.

    Codes: MODEL_KEY (401/403), MODEL_RATE_LIMIT (429), MODEL_SERVER (5xx), MODEL_TIMEOUT,
    MODEL_NETWORK, MODEL_CUT_OFF (broke off in mid-stream), MODEL_MALFORMED, MODEL_CONTEXT.
    """

    code = "MODEL_FAILED"


class RerankFailed(Unavailable):
    """The reranker gave no usable order."""

    code = "RERANK_FAILED"


class Cancelled(LecternError):
    """The user stopped the work."""

    code = "CANCELLED"
