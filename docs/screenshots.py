"""Takes README's pictures from the real app: `make screenshots`. Needs Chromium, no network."""

import re
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.e2e.conftest import CHROMIUM, FLAGS, new_page, running_app
from tests.e2e.steps import ask, cite, preload

IMAGES = Path(__file__).with_name("images")
ENGLISH = "What is stored with every citation?"
CHINESE = "为什么选择 PostgreSQL？"
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 780}


def main() -> None:
    """Write the pictures into docs/images."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        preload(folder, "fusion", "citations", "crosslang", "localfirst")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        with running_app(folder) as app:
            take(browser, app, "ask", ENGLISH, viewport=DESKTOP)
            take(browser, app, "ask-zh-dark", CHINESE, viewport=DESKTOP, color_scheme="dark")
            take(browser, app, "ask-phone", ENGLISH, viewport=PHONE)
        browser.close()


def take(browser: Browser, app: str, name: str, question: str, **settings: object) -> None:
    """Ask a question, open its first citation, and keep the picture."""
    chinese = question == CHINESE
    page = new_page(browser, locale="zh-CN" if chinese else "en-US", **settings)
    page.goto(f"{app}/ask")
    ask(page, question)
    if chinese:
        page.get_by_role("button", name=re.compile("^引用 1")).first.click()
    else:
        cite(page, 0, 1)
    page.locator(".lectern-page img").wait_for()
    page.wait_for_timeout(2000)
    page.screenshot(path=IMAGES / f"{name}.png")
    page.context.close()


if __name__ == "__main__":
    main()
