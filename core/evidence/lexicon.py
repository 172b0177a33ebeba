"""Word lists as data: abbreviations here, what a verdict compares below."""


def words(text: str) -> frozenset[str]:
    """Return the white-space separated entries of `text`."""
    return frozenset(text.split())


NEVER_ENDS = words("""
    fig figs eq eqs eqn eqns sec secs sect tab tabs ref refs ch chap chaps app appx thm lem
    prop def cor alg e.g i.e cf vs viz resp approx ca dr prof mr mrs ms st no nos vol vols
    pp p ed eds art para ver rev gen sen rep gov dept univ proc conf trans lett phys chem
    biol med sci comput int intl natl assoc soc acad am ibid op cit i.i.d w.r.t s.t a.k.a
    aka max min avg std
""")
"""Abbreviations whose full stop does not end a sentence."""

MAY_END = words("""
    al etc inc ltd co corp jr sr ph.d m.d b.sc m.sc u.s u.k u.s.a e.u a.m p.m jan feb mar
    apr jun jul aug sep sept oct nov dec
""")
"""Abbreviations that end a sentence when a usual first word follows."""

STARTERS = words("""
    we the this these those that it its in our for however there they their he she a an to
    as when while although though after before since because if on at by from with without
    here thus therefore hence moreover furthermore finally first second third then next also
    all both each most many some several such one two another other figure table section
    results using based during compared what how why which who where additionally similarly
    consequently recently
""")
"""Usual first words of a sentence, which are no surnames."""

ALSO_WORDS = words("""
    no app prop art st rep gen max min am def med int co trans ref conf soc ver
""")
"""Abbreviations that are words too: in lower case before a word they end a sentence."""
