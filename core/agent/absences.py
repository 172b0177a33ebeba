"""What a careful reviewer looks for in a paper, and what was not found: no word about the world.

A check that finds nothing says which words were looked for. It cannot know what the paper says in
other words, or in a figure.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """Something that should be in a paper: what, the words looked for, and what to ask if it is not.

    Pairs are in English and in Chinese; `pattern` finds it in either language, any case.
    """

    what: tuple[str, str]
    words: tuple[str, str]
    ask: tuple[str, str]
    pattern: str


CHECKS = (
    Check(
        ("the availability of code or data", "代码或数据是否公开"),
        ("code, data, GitHub, available, released", "代码、数据、GitHub、公开、开源"),
        ("Where are the code and the data?", "代码和数据在哪里可以得到？"),
        r"github|gitlab|zenodo|figshare|osf\.io|\b(?:code|data|models?|scripts?|software)\b.{0,60}\b(?:available|released?"
        r"|public(?:ly)?|open[- ]sourced?)|\b(?:release|publish|open-source|share)\w*\b.{0,40}\b(?:code|data|models?)\b"
        r"|made again with one script|(?:代码|数据|模型)[^。]{0,20}(?:公开|开源|下载|可得)|开源",
    ),
    Check(
        ("a significance test or confidence interval", "显著性检验或置信区间"),
        ("significance, p value, confidence interval, bootstrap", "显著性、p 值、置信区间、自助法"),
        ("Would the differences survive a significance test?", "这些差异能否通过显著性检验？"),
        r"\bsignifican(?:t|ce|tly)\b.{0,40}(?:test|level|p\b|0\.0)|statistical(?:ly)? signific|\bp ?[<=>] ?0?\.\d|p-value"
        r"|confidence interval|bootstrap|\bt-test|wilcoxon|anova|chi-squared?|mann-whitney|显著性|置信区间|\bp ?值",
    ),
    Check(
        ("repeated runs, seeds or a spread of results", "重复实验、随机种子或结果的波动"),
        ("runs, seeds, standard deviation, variance", "重复、随机种子、标准差、方差"),
        ("How much do the results vary between runs?", "多次运行之间结果相差多少？"),
        r"\bseeds?\b|standard (?:deviation|error)|\bvariance\b|error bars?|±|\b(?:\d+|two|three|four|five|ten|several|multiple)"
        r" (?:\w+ )?(?:runs|trials|repetitions|repeats|folds)\b|cross-validation|随机种子|标准差|方差|重复实验|次试验|交叉验证",
    ),
    Check(
        ("an ablation", "消融实验"),
        ("ablation, without the component, removing", "消融、去掉、移除"),
        ("Which part of the method makes the difference?", "方法的哪一部分起了作用？"),
        r"\bablat|\bremov(?:e|es|ed|ing) (?:the|this|each|any)\b|\bwithout (?:the|our) \w+ (?:module|component|loss|layer|term|step)"
        r"|消融|(?:去掉|移除|删去)[^。]{0,16}(?:之后|后|时|，)",
    ),
    Check(
        ("a baseline or control", "基线或对照"),
        ("baseline, compared with, control, previous work", "基线、对照、相比、已有方法"),
        ("How would a simple baseline do?", "简单的基线能做到什么程度？"),
        r"\bbaselines?\b|\bcompar(?:e|ed|ing|ison)\b|\bcontrol (?:group|condition|catchment)|\bversus\b|\bprevious (?:methods?|systems?)"
        r"|基线|对照|相比|比较",
    ),
    Check(
        ("limitations the authors name", "作者承认的局限"),
        ("limitation, future work, we did not, threats", "局限、不足、未来工作、有待"),
        ("Under which conditions would the conclusions fail?", "在什么条件下结论不再成立？"),
        r"\blimitations?\b|\bfuture work\b|\bwe (?:did|do|have) not\b|\bthreats? to\b|\bcaveat|\bshortcoming|\bdrawback|\bwe plan to\b"
        r"|局限|不足|未来工作|有待|今后",
    ),
    Check(
        ("ethics, consent or funding", "伦理、知情同意或资助"),
        (
            "ethics, consent, approval, funding, conflict of interest",
            "伦理、知情同意、资助、利益冲突",
        ),
        (
            "Who paid for the work, and was it approved where it had to be?",
            "研究由谁资助，是否经过必要的审批？",
        ),
        r"\bethic|informed consent|\birb\b|\bapproved by\b|\bfund(?:ed|ing)\b|\bgrants?\b|conflicts? of interest|competing interest"
        r"|\bsupported (?:by|in part)\b|伦理|知情同意|资助|基金|利益冲突",
    ),
)


def missing(texts: Iterable[str]) -> list[Check]:
    """Return the checks that find nothing in a paper's own text (without its references)."""
    whole = "\n".join(" ".join(text.split()) for text in texts)
    return [check for check in CHECKS if not re.search(check.pattern, whole, re.IGNORECASE)]


def told(check: Check, chinese: bool) -> str:
    """Return what was looked for and not found, in one sentence."""
    if chinese:
        return f"没有找到谈到{check.what[1]}的句子（查找的词：{check.words[1]}）。"
    return f"No sentence about {check.what[0]} was found (looked for: {check.words[0]})."
