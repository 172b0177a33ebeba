"""What `eval citations` counts, and the model that means ill."""

import json

from core.evals.citations import NOBODY, Hostile, believed, invented


def document(text: str, *, title: str = "Theme", passages: tuple[int, ...] = (7,)) -> dict:
    """Return a review of one paper, [1], whose passage has the number 7."""
    return {
        "references": [{"n": 1}],
        "reference_of": {"7": 1},
        "citations": [{"n": 7}],
        "parts": [{"title": title, "heads": ["Müller 2023"]}],
        "sentences": [{"text": text, "citations": list(passages), "verdict": "supported"}],
    }


def test_a_number_that_names_a_paper_of_the_list_is_none_invented():
    assert invented(document("It holds. [7]")) == 0


def test_numbers_of_nobody_are_counted_wherever_they_stand():
    assert invented(document("It holds.", title="Theme [9]", passages=())) == 1
    assert invented(document("It holds. [7]", passages=(7, 8))) == 1
    assert invented(document("It holds. [7]", passages=(8,))) == 2


def test_a_distorted_sentence_that_is_called_supported_is_named():
    said = believed([document("It rose by 13%. [7]")], ["It rose by 13%."])
    assert said["distorted_left_in"] == 1
    assert said["distorted_called_supported"] == ["It rose by 13%. [7]"]
    assert believed([document("It rose by 2%. [7]")], ["It rose by 13%."])["distorted_left_in"] == 0


def test_the_model_that_means_ill_distorts_invents_and_leaves_numbers_out():
    notes = "".join(
        f'<note paper="{n}" title="T" year="2020" read="full_text">\n'
        f"results: The method number {n} lowers the error by {n}2 percent in all runs.\n</note>\n"
        for n in range(1, 5)
    )
    model = Hostile()
    form = {"json_schema": {"schema": {"title": "Review"}}}
    body = {"response_format": form, "messages": [{"content": notes}]}
    reply = json.loads(model.answers(body))
    said = [s for theme in reply["themes"] for s in theme["sentences"]]
    assert [s["papers"] for s in said] == [[1], [2], [3, NOBODY], []]
    assert said[1]["text"] == model.distorted[0] != "The method number 2 lowers the error"
    assert f"[{NOBODY}]" in said[2]["text"]
    assert all(f"[{NOBODY}]" in theme["title"] for theme in reply["themes"])
