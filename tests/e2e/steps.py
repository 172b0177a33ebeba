"""What a reader does and sees, as the browser tests say it."""

import os
import re
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import ROOT, database_of

SAMPLES = ROOT / "data" / "samples"
STEPS = re.compile(r"^\d+ steps? ·|^\d+ 步 ·|^\d+ 个步骤 ·")


def preload(folder: Path, *names: str) -> None:
    """Put sample papers into the library an app started on `folder` will have."""
    files = [str(SAMPLES / f"{name}.pdf") for name in names]
    command = [
        sys.executable,
        "-m",
        "core",
        "ingest",
        *map(str, files),
        "--data-dir",
        str(folder / "data"),
    ]
    environment = {
        **os.environ,
        "DATABASE_URL": database_of(folder),
        "EMBEDDING_MODELS": "use-multilingual",  # as the app: the second model takes half a minute
    }
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, env=environment)


def upload(page: Page, *paths: Path) -> None:
    """Choose files on the Library page and press Add."""
    page.locator("input[type=file]").set_input_files([str(path) for path in paths])
    for path in paths:
        expect(page.get_by_role("button", name=f"Remove {path.name}")).to_be_visible()
    page.get_by_role("button", name="Add", exact=True).click()


def ask(page: Page, question: str) -> None:
    box = page.get_by_test_id("stChatInputTextArea")
    box.fill(question)
    box.press("Enter")


def bubble(page: Page, number: int) -> Locator:
    """Return the bubble of the answer with that number (counted from 0), as far as it is."""
    return page.get_by_test_id("stChatMessage").nth(2 * number + 1)


def answer(page: Page, number: int) -> Locator:
    """Return the bubble of an answer once it is complete."""
    found = bubble(page, number)
    expect(found.get_by_text(STEPS)).to_be_visible()
    return found


def cite(page: Page, number: int, n: int) -> None:
    """Click `[n]` in an answer and wait for its page to be drawn."""
    answer(page, number).get_by_role("button", name=re.compile(rf"^Citation {n}:")).first.click()
    expect(page.locator(".lectern-page img")).to_be_visible()
    expect(page.locator(".lectern-page .tag[aria-current]")).to_have_text(f"[{n}]")
