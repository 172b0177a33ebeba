"""The agent's prompts, one template per branch."""

from pathlib import Path

from core.models.prompting import Templates, fenced

__all__ = ["fenced", "render"]

render = Templates(Path(__file__).parent).render
