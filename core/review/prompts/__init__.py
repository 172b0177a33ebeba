"""The prompts of reviews, one template per branch."""

from pathlib import Path

from core.models.prompting import Templates

render = Templates(Path(__file__).parent).render
