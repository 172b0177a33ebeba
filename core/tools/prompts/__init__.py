"""The prompts of tools that ask a model."""

from pathlib import Path

from core.models.prompting import Templates

render = Templates(Path(__file__).parent).render
