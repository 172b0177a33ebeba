"""With sign-in set up, papers belong to who signed in, whatever computer they sit at."""

import re

from playwright.sync_api import expect

from tests.e2e.conftest import new_page, running_app
from tests.e2e.steps import answer


def test_who_signs_in_sees_their_own_papers_only(tmp_path, browser, sign_in):
    secrets = tmp_path / "secrets.toml"
    app = running_app(tmp_path, "streamlit_app.py", "--secrets.files", str(secrets))
    secrets.write_text(sign_in.secrets(app.address))
    with app as address:
        ada, bob, nobody = (new_page(browser) for _ in range(3))
        nobody.goto(f"{address}/library")
        expect(nobody.get_by_role("button", name=re.compile("Sign in$"))).to_be_visible()
        expect(nobody.locator("input[type=file]")).to_have_count(0)

        _enter(ada, address)
        ada.get_by_role("button", name=re.compile("Try with the sample papers")).click()
        ada.get_by_role("button", name=re.compile("What is stored with every")).click()
        expect(answer(ada, 0)).to_contain_text("[1]")

        sign_in.subject = "bob"
        _enter(bob, address)
        expect(bob.get_by_role("button", name=re.compile("Try with the sample"))).to_be_visible()
        bob.goto(ada.url)
        expect(bob.get_by_text("not here (any more)")).to_be_visible()

        sign_in.subject = "ada"
        elsewhere = new_page(browser)
        _enter(elsewhere, address)
        expect(elsewhere.get_by_role("heading", name="Go on reading")).to_be_visible()
        elsewhere.get_by_role("button", name=re.compile("Sign out$")).click()
        expect(elsewhere.get_by_role("button", name=re.compile("Sign in$"))).to_be_visible()
        for page in (ada, bob, nobody, elsewhere):
            page.context.close()


def _enter(page, address):
    page.goto(address)
    page.get_by_role("button", name=re.compile("Sign in$")).click()
    expect(page.get_by_role("button", name=re.compile("Sign out$"))).to_be_visible()
