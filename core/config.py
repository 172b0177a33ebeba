"""Settings, from the environment (and a `.env` file) only. Nothing here is global: pass it on."""

from pathlib import Path

from platformdirs import user_data_path
from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

DEEPSEEK_URL = "https://api.deepseek.com/v1"
OPENAI_URL = "https://api.openai.com/v1"
ARXIV_URL = "https://arxiv.org"
ARXIV_API_URL = "https://export.arxiv.org/api/query"
OPENALEX_URL = "https://api.openalex.org"
CROSSREF_URL = "https://api.crossref.org"
COHERE_URL = "https://api.cohere.com"


class Settings(BaseSettings):
    """All that can be set. An empty value means: not set."""

    model_config = SettingsConfigDict(env_file=".env", extra="ignore", env_ignore_empty=True)

    data_dir: Path = Field(
        default_factory=lambda: user_data_path("lectern"), validation_alias="LECTERN_DATA_DIR"
    )
    database_url: str = Field("", validation_alias="DATABASE_URL")
    chroma_url: str = Field("", validation_alias="CHROMA_URL")
    single_user: bool = Field(False, validation_alias="LECTERN_SINGLE_USER")

    embedding_models: str = Field(
        "use-multilingual,all-MiniLM-L6-v2", validation_alias="EMBEDDING_MODELS"
    )

    arxiv_url: str = Field(ARXIV_URL, validation_alias="ARXIV_URL")
    arxiv_api_url: str = Field(ARXIV_API_URL, validation_alias="ARXIV_API_URL")
    arxiv_seconds: float = Field(3.0, ge=0, validation_alias="ARXIV_SECONDS")
    review_papers_at_once: int = Field(4, ge=1, le=16, validation_alias="REVIEW_PAPERS_AT_ONCE")
    openalex_url: str = Field(OPENALEX_URL, validation_alias="OPENALEX_URL")
    crossref_url: str = Field(CROSSREF_URL, validation_alias="CROSSREF_URL")

    llm_base_url: str = Field("", validation_alias="LLM_BASE_URL")
    llm_api_key: SecretStr = Field(SecretStr(""), validation_alias="LLM_API_KEY")
    llm_model: str = Field("", validation_alias="LLM_MODEL")
    vision_model: str = Field("", validation_alias="VISION_MODEL")
    llm_context_tokens: int = Field(16_000, ge=1_000, validation_alias="LLM_CONTEXT_TOKENS")
    llm_price_in: float = Field(0.0, ge=0, validation_alias="LLM_PRICE_IN")
    llm_price_out: float = Field(0.0, ge=0, validation_alias="LLM_PRICE_OUT")
    llm_timeout: float = Field(60.0, gt=0, validation_alias="LLM_TIMEOUT")
    deepseek_api_key: SecretStr = Field(SecretStr(""), validation_alias="DEEPSEEK_API_KEY")
    openai_api_key: SecretStr = Field(SecretStr(""), validation_alias="OPENAI_API_KEY")

    cohere_api_key: SecretStr = Field(SecretStr(""), validation_alias="COHERE_API_KEY")
    cohere_rerank_model: str = Field(
        "rerank-multilingual-v3.0", validation_alias="COHERE_RERANK_MODEL"
    )
    cohere_base_url: str = Field(COHERE_URL, validation_alias="COHERE_BASE_URL")

    @field_validator("data_dir")
    @classmethod
    def _own_folder(cls, folder: Path) -> Path:
        return own_folder(folder)

    @property
    def embedding_model_names(self) -> tuple[str, ...]:
        """The dense paths in order; the first serves every paper and the reading memory."""
        names = (name.strip() for name in self.embedding_models.split(","))
        return tuple(dict.fromkeys(name for name in names if name))


def own_folder(folder: Path) -> Path:
    """Return the folder as an absolute path, `~` expanded.

    Raises:
        ValueError: it is empty, which would mean the folder one happens to be in.
    """
    if str(folder).strip() in ("", "."):
        raise ValueError("the data folder is not named")
    return folder.expanduser().absolute()
