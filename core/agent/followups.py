"""Follow-up questions made to stand alone by rules, in English and Chinese; no model.

A question depends on the conversation when it points back (it, those, 它, 这样), says too little
(Why? 结果呢), or goes on (And on the second one? 那…呢). It is completed from the question before,
itself completed first: a name is put in place of a name or pronoun, a phrase in place of the one
with the same preposition, and else the earlier subject is named beside it.
"""

import re
import unicodedata
from collections.abc import Sequence

from core.evidence.facts import facts
from core.evidence.language import CJK, is_chinese
from core.evidence.lexicon import STOP_WORDS, words
from core.extractive.about import about

_LONGEST = 200
"""Characters beyond which a question is taken to say what it is about."""
_END = " ?？。.!！~～…"

# --- English ------------------------------------------------------------------------------------

_LEAD = re.compile(
    r"^(?:(?:and|but|so|then|or|also|ok(?:ay)?|well|now|hmm+|right|yes|no)\b[\s,]*)+", re.I
)
_GOES_ON = re.compile(
    r"^(?:(?:and|but|so|or|ok(?:ay)?)\b[\s,]*)*(?:(?:what|how) about|same for)\b|^and (?:also )?"
    r"(?:the|its?|in|on|for|with|at|to|of|by|from|under|without|during|after|before)\b",
    re.I,
)
_POINTS = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|she|him|his|hers?|that|this|these|those|such|former"
    r"|latter|others?|ones?(?=\W*$|\s(?:after|before|above|below|do|does|is|are|was)\b)|same|there|both|either|neither|instead)\b",
    re.I,
)
_OF_ITS_OWN = re.compile(
    r"\bit (?:is|was) \w+ (?:that|to|for)\b|\b(?:is|was|are|would) it (?:\w+ly )?(?:\w+) (?:that|to|for|if)\b"
    r"|\b(?:this|these|the same|that) (?:papers?|stud(?:y|ies)|articles?|works?|documents?|authors?|texts?"
    r"|sections?|figures?|tables?)\b|\b(?:both|either|neither) \w+ (?:and|or|nor)\b"
    r"|\bsuch as\b|\b(?:is|are|was|were) there\b|\bthere (?:is|are|was|were)\b|\beach other\b"
    r"|\bone (?:of|or|hundred|single)\b|\bno one\b|\b(?:does|can|should|may|would) one\b|\bit takes?\b|\bdoes it (?:cost|matter)\b|\b(?:the )?(?:others? \w+s?|other) (?:than|authors|studies|papers|work)\b"
    r"|\b(?:\w{4,}) that\b|\bthat (?:the|we|is|are|can|do|does|was|were|they|it|he|she)\b",
    re.I,
)
_OWN_ANTECEDENT = frozenset(("it", "its", "they", "them", "their", "theirs", "he", "she", "his"))
_BARE = words("""
    why how so what which who when where whose whom really sure ok okay thanks more detail details
    elaborate explain continue go on example examples tell me please can could would you give further
    again then too well instead though mean say expand much many often long far come exactly precisely
    same different better worse true correct happen happened happens
""")
_AUXILIARIES = words("""
    is are was were am be been do does did has have had can could will would shall should may might
    must explain describe summarise summarize list give tell show compare define what's who's
    isn't aren't wasn't don't doesn't didn't
""")
_ASKS_WHAT = re.compile(r"^(?:what|who) (?:is|are|was|were)\s|^define\s", re.I)
_PREPOSITION = r"(?:on|in|for|with|at|under|without|during|after|before|from|to|by|among)"
_PHRASE = re.compile(rf"^{_PREPOSITION}\b", re.I)
_SUBJECT = re.compile(
    r"\b(?:the|an?|their|its|this|of)\s+((?:(?!(?:of|is|are|was|were|in|on|to|for|and|or|with|by|that|"
    r"which|from|at|has|have|than|the|compared|into|uses?|used)\b)[\w-]+\s?){1,3}(?:of (?:the )?[\w-]+(?: [\w-]+)?)?)",
    re.I,
)

# --- Chinese ------------------------------------------------------------------------------------

_ZH_LEAD = re.compile(r"^(?:(?:那么?|而|还有|另外|然后|所以|但是?|嗯|好的?|哦|对了)[，, ]*)+")
_ZH_GOES_ON = re.compile(r"^(?:那么?(?!个|些|里|种|样)|还有)")
_ZH_NE = re.compile(r"呢\W*$")
_ZH_POINTS = re.compile(
    r"[它他她]们?|其(?![他它中实余次])|[这那](?:个(?!名字)|些|种|样|里|类|一[个种步点项])|两者|前者|后者|上述|上面|刚才"
    r"|(?<!相)同样|此外|该(?:方法|模型|算法|系统|数据|实验|任务|指标|策略|技术|框架|过程|步骤|结果|问题)|也(?:一样|是这样|如此)|下一[个张节步种]|上一[个张节步种]|另一|另外"
)
_ZH_OF_ITS_OWN = re.compile(
    r"[这那该此]些?[个份项]?(?:篇|论文|文章|研究|作者|文献)|其他研究|研究者|其他人"
)
_ZH_SKIP = re.compile(
    r"为什么|为何|什么|怎么样|怎么|怎样|如何|哪些|哪个|哪种|哪里|哪|多少|多大|多高|多快|多久|多长|几|是否|有没有|能不能"
    r"|可不可以|请问|请|一下|具体|详细|解释|介绍|说明|报告|一点|再|能|吗|呢|吧|啊|了|嘛|不|够|好|效果|原因|区别|结果"
    r"|会|太|做过?|时候|样|持续|得到|作者|论文|文章|本文|也|就|都|还|是|有|用|在|把|被|对|和|与|跟|从|比|给|以|上|下|中|里|的"
)
_ZH_PIECE = re.compile(
    r"为什么|为何|什么|怎么样?|怎样|如何|哪些|哪个|哪|多少|多[大高快久长]|几[个种层]?|是否|有没有|请问|主要|一下|能不能"
    r"|说明了?|报告了?|选择|处理|使用|采用|作用|解释|介绍|[吗呢吧了把被是用做给]|[有在和与跟]|对(?!照|比|抗|话|称|齐|数)|这一步|作者|论文|[，,。？?]"
    r"|用于|上的?|改|相比"
)
_ZH_PLACE = re.compile(rf"在\s*([A-Za-z0-9{CJK} .-]{{1,30}}?)\s*(?:数据集|任务)?[上中里下]")


def standalone(question: str, earlier: Sequence[str]) -> str:
    """Return `question` so that it can be understood alone; the same text when it can be already.

    Args:
        question: as it was asked.
        earlier: the conversation's questions before it, oldest first.
    """
    before = ""
    for asked in earlier:
        before = _completed(asked, before)
    return _completed(question, before)


def depends(question: str) -> bool:
    """Return whether `question` needs the conversation to be understood."""
    plain = unicodedata.normalize("NFKC", question).replace("’", "'").strip()
    if not plain or len(plain) > _LONGEST or about(plain):
        return False
    return _depends_zh(plain) if is_chinese(plain) else _depends_en(plain)


def _completed(question: str, before: str) -> str:
    if not before.strip() or not depends(question):
        return question
    question = question.strip()
    if is_chinese(question) != is_chinese(before):
        return _beside(question, topics(before))
    if is_chinese(question):
        return _complete_zh(question, before)
    return _complete_en(question, before)


def _beside(question: str, topic: Sequence[str]) -> str:
    """Return the question with what it is about in brackets, where it does not say so."""
    topic = [part for part in topic if part.casefold() not in question.casefold()]
    if not topic:
        return question
    mark = "？" if is_chinese(question) else "?"
    return f"{question.rstrip(_END)} ({', '.join(topic)}){mark}"


def topics(question: str) -> list[str]:
    """Return what `question` is about, as it says it: its names, and its subject."""
    found = _names(question)
    subjects = _subjects_zh(question) if is_chinese(question) else _subject_en(question)
    said = " ".join(subjects).casefold()
    return [*(name for name in found if name.casefold() not in said), *subjects]


def _names(question: str) -> list[str]:
    """Return the names in `question` in order, spelt as they are there."""
    known = facts(question).names
    spelt = re.findall(r"[A-Za-z0-9][\w.-]*\w|[A-Z]", question)
    return list(dict.fromkeys(word for word in spelt if word.casefold() in known or word in known))


# --- English ------------------------------------------------------------------------------------


def _depends_en(plain: str) -> bool:
    bare = _LEAD.sub("", plain)
    if _GOES_ON.match(plain) and not _full_sentence(bare):
        return True
    cleared = _OF_ITS_OWN.sub(" ", bare)
    for match in _POINTS.finditer(cleared):
        if match.group().casefold() not in _OWN_ANTECEDENT or not _antecedent(cleared, match):
            return True
    said = [word for word in _words(bare) if word not in STOP_WORDS and word not in _BARE]
    if _names(bare) and _full_sentence(bare):
        return False
    if _ASKS_WHAT.match(bare):
        return not said
    return not said or (not _full_sentence(bare) and len(said) <= 3)


def _full_sentence(bare: str) -> bool:
    """Return whether there is a verb: an auxiliary, or an order to do something."""
    asked = _words(bare)
    return any(word in _AUXILIARIES for word in asked) or len(asked) > 8


def _antecedent(text: str, pronoun: re.Match[str]) -> bool:
    """Return whether something before the pronoun in the same question can be what it means."""
    lead, rest = text[: pronoun.start()], text[pronoun.end() :]
    before = _words(lead)
    last = not rest.strip(_END)
    if len(before) < 3 or (before[-1] in _AUXILIARIES and "," not in lead):
        return False
    if last and re.search(rf"\b{_PREPOSITION}\s*$", lead, re.I):
        return False
    return "authors" in before or any(w not in STOP_WORDS and w not in _BARE for w in before)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in re.findall(r"[\w'-]+", text)]


def _complete_en(question: str, before: str) -> str:
    bare = re.sub(r"^(?:(?:what|how) about|same for)\s+", "", _LEAD.sub("", question), flags=re.I)
    bare = bare.strip().rstrip(_END)
    if not [w for w in _words(bare) if w not in STOP_WORDS and w not in _BARE]:
        return f"{before.rstrip(_END)}? {_capital(bare)}?"
    if _full_sentence(bare):
        return _with_subject(_capital(bare) + "?", before)
    if _PHRASE.match(bare):
        return _in_place_of_phrase(bare, before)
    theirs, mine = _names(before), _names(bare)
    if mine == [bare]:
        replaced = len(theirs) == 1
        return before.replace(theirs[0], bare) if replaced else f"{before.rstrip(_END)}, {bare}?"
    return _in_place_of_kind(bare, before) or _with_subject(_capital(bare) + "?", before)


def _in_place_of_phrase(asked: str, before: str) -> str:
    """Return the earlier question with `asked` in place of its own with that preposition."""
    word = asked.split()[0]
    asked = word.casefold() + asked[len(word) :]
    stem = before.rstrip(_END)
    own = list(re.finditer(rf"\b{word}\b(?:(?!\b{_PREPOSITION}\b)[^,])+$", stem, re.I))
    if not own:
        return stem + " " + asked + "?"
    noun = own[-1].group().split()[-1]
    asked = re.sub(r"\bones?$", noun, asked)
    return stem[: own[-1].start()] + asked + "?"


def _in_place_of_kind(bare: str, before: str) -> str:
    """Return the earlier question with "the large one" in place of "the base model", or ''."""
    kind = bare.split()[-1]
    noun = r"[\w-]+" if kind in ("one", "ones") else re.escape(kind)
    own = re.search(rf"\b(?:the|an?)\s+[\w-]+\s+({noun})\b", before, re.I)
    if own is None or len(bare.split()) < 2:
        return ""
    put = bare if kind not in ("one", "ones") else f"{bare.rsplit(maxsplit=1)[0]} {own.group(1)}"
    return f"{before[: own.start()]}{put}{before[own.end() :]}"


def _with_subject(question: str, before: str) -> str:
    """Return the question with its pronoun, where it has one, explained."""
    match = re.search(r"\b(it|its|they|them|their)\b", question, re.I)
    if match is None and re.search(r"\b(?:same|this|that|so)\b", question, re.I):
        return _beside(question, [_gist_en(before)])
    subjects = topics(before)
    if match is None or len(subjects) != 1 or not _is_phrase(subjects[0], before):
        return _beside(question, subjects)
    put = subjects[0]
    if re.search(rf"\bthe {re.escape(put)}", before, re.I):
        put = f"the {put}"
    if match.group().casefold() in ("its", "their"):
        put = f"{put}'s"
    return f"{question[: match.start()]}{put}{question[match.end() :]}"


def _is_phrase(subject: str, before: str) -> bool:
    """Return whether `subject` stands in `before` as a noun phrase does: a name, or determined."""
    return (
        subject in _names(before)
        or _ASKS_WHAT.match(before) is not None
        or re.search(rf"\b(?:the|an?) {re.escape(subject)}", before, re.I) is not None
    )


def _gist_en(question: str) -> str:
    """Return the question's content words in order."""
    kept = re.findall(r"[\w'-]+\.?", _LEAD.sub("", question).rstrip(_END))
    leave = _BARE | _AUXILIARIES | {"the", "a", "an"}
    return " ".join(word for word in kept if word.casefold() not in leave)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _subject_en(question: str) -> list[str]:
    """Return what an English question is about: its first noun phrase, as far as words can tell."""
    stem = _LEAD.sub("", question).rstrip(_END)
    match = _SUBJECT.search(stem)
    if match:
        return [match.group(1).strip()]
    if _names(stem):
        return []
    run = [w for w in re.findall(r"[\w'-]+", stem) if w.casefold() not in STOP_WORDS]
    kept = [w for w in run if w.casefold() not in _BARE | _AUXILIARIES]
    return [" ".join(kept[:4])] if kept else []


# --- Chinese ------------------------------------------------------------------------------------


def _depends_zh(plain: str) -> bool:
    if _ZH_GOES_ON.match(plain):
        return True
    bare = _ZH_LEAD.sub("", plain)
    cleared = _ZH_OF_ITS_OWN.sub("", bare)
    match = _ZH_POINTS.search(cleared)
    if match and not (match.group()[0] in "它他她其" and _antecedent_zh(cleared, match)):
        return True
    if _ZH_NE.search(plain) and not re.search("什么|怎|如何|为何|哪|谁|是否|有没有", plain):
        return True
    return _little_zh(bare)


def _antecedent_zh(text: str, pronoun: re.Match[str]) -> bool:
    return bool(re.search(r"[\w]{2,}[，,]", text[: pronoun.start()]))


def _little_zh(bare: str) -> bool:
    """Return whether nothing is left to look for once question words are taken away."""
    if re.search(r"作者是谁|谁写的|什么是|讲|总结|概括|贡献|是什么意思", bare):
        return False
    left = _ZH_SKIP.sub(" ", bare.rstrip(_END))
    runs = re.findall(rf"[A-Za-z][\w-]+|[{CJK}]{{2,}}", left)
    return sum(len(run) if not run.isascii() else 4 for run in runs) < 3


def _complete_zh(question: str, before: str) -> str:
    bare = _ZH_LEAD.sub("", question).rstrip(_END)
    core = re.sub(r"呢$", "", bare).strip()
    said = re.sub(r"\s", "", _ZH_SKIP.sub("", core))
    place = _ZH_PLACE.match(core)
    if place and len(said) - len(place.group(1)) < 2 and _ZH_PLACE.search(before):
        return _ZH_PLACE.sub(lambda _: place.group(), before, count=1)
    theirs, mine = _names(before), _names(core)
    if len(theirs) == 1 and mine == [core]:
        return before.replace(theirs[0], core)
    if len(said) < 2:
        return f"{before.rstrip(_END)}？{core}？"
    subjects = topics(before)
    alike = [part for part in subjects if part[-1] == core[-1] and part != core]
    if bare.endswith("呢") and alike:  # 实验组 for 对照组
        return before.replace(alike[0], core)
    match = re.search(r"[它他她]们?|其(?![他它中实余次])", core)
    if match and subjects:
        return f"{core[: match.start()]}{subjects[0]}{core[match.end() :]}？"
    return _beside(core + "？", subjects)


def _subjects_zh(question: str) -> list[str]:
    """Return the first stretches of a Chinese question between question and function words."""
    stem = _ZH_LEAD.sub("", question).rstrip(_END)
    pieces = (piece.strip(" 的地得") for piece in _ZH_PIECE.split(stem))
    kept = [re.sub(r"^[张个种次层项篇](?=..)", "", p) for p in pieces]
    return [piece for piece in kept if len(re.findall(rf"[{CJK}]", piece)) >= 2][:2]
