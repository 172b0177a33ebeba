"""System: which parts of Lectern work, with which models, and how much there is."""

from ui import system
from ui.frame import page
from ui.language import _

session = page(_("System"))
system.parts(session)
system.sizes(session)
system.versions()
