"""Search: papers elsewhere, found by topic, ranked by meaning and by words, added to the library."""

from ui import history, search, searchform
from ui.frame import page
from ui.language import _
from ui.papers import queue

with page(_("Search")) as session:
    history.undo_bar(session)
    asked = search.asked()
    searchform.show(asked)
    queue(session, told=search.told(session, asked))
    if asked.topic:
        search.show(session, asked)
    else:
        search.welcome()
        searchform.examples()
