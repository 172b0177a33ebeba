"""Wording that says what a reader wants, in English and Chinese: the router's rules.

An intent that is not named here goes by its examples alone. Each expression asks for words that
seldom mean anything else; what can be read in two ways ("limitations?") is left out on purpose.
"""

import re
import unicodedata
from collections.abc import Container

_PAPERS = r"(?:papers?|studies|articles|works|publications|documents|preprints)"
_SEVERAL = (
    rf"(?:these|those|both|all|two|three|four|five|six|[2-6]|several|selected|the) "
    rf"(?:(?:of|the|my|selected|uploaded|two|three|four|five|six|[2-6]) ){{0,3}}(?!paper\b){_PAPERS}"
)
_DIFFER = (
    r"(?:compar\w+|contrast\w*|differ\w*|similarit\w+|versus|vs|(?:dis)?agree\w*|common|better|worse"
    r"|overlap\w*|which|more|next to each other|against each other)"
)
_SHOWN = (
    r"(?:(?:figures|tables|charts|plots|graphs|diagrams)\b|(?:fig(?:ure)?\.?|table|chart) ?\d"
    r"|(?:the|this|that|every|each|any) (?:\w+ )?(?:figure|table|chart|plot|graph|diagram|curve)\b)"
)
_CLAIMED = (
    r"(?:claims?|statements?|sentences?|paragraphs?|citations?|references?|bibliography|assertions?"
    r"|quot(?:es?|ations?)|draft|facts?|related[- ]work|sources)"
)
_TAKE_OUT = (
    r"(?:extract|export|get|show|list|give|pull|digiti[sz]e|convert|turn|download|crop|cut|save|plot"
    r"|re-?plot|redraw|re-?draw|read off|collect)"
)
_ZH_TAKE_OUT = r"(?:提取|导出|抽取|截|列出|给我|读出|读取|还原|转成|转为|重画|重绘|下载|裁|识别|画出|展示|数字化)"
_ZH_SHOWN = r"(?:图表|图片|插图|配图|(?<![成张个份])表格|[图表] ?\d|(?:所有|全部|每张|每个|各个)(?:的)?[图表]|[柱饼折散][^，。]{0,2}图|曲线)"
_ZH_CLAIMED = (
    r"(?:说法|陈述|论断|引用|引文|参考文献|文献|出处|依据|事实|[段句]话?|来源|断言|草稿|这些)"
)

_CUES: dict[str, str] = {
    "verify_sources": (
        rf"\b(?:check|verify|confirm|validate|double-check|vet)\b.{{0,40}}\b{_CLAIMED}\b"
        rf"|\bas i (?:wrote|write|claim)|\bfact[- ]?check|\b(?:check|verify|confirm) (?:if|whether|that|this:)"
        r"|\b(?:supported|backed(?: up)?|substantiated|confirmed) by (?:the |my |these |any |a )*"
        rf"(?:sources?|librar|literature|references?|citations?|{_PAPERS})"
        rf"|\b(?:is|are) (?:this|these|the following|my) {_CLAIMED} (?:\w+ )?"
        r"(?:true|correct|right|supported|accurate|real|backed|sound)"
        rf"|\b{_CLAIMED} (?:below|above|in my|exist)|\b(?:do|does) (?:these|this|the) {_CLAIMED}"
        r" (?:really |actually )?(?:exist|say|support|hold)"
        rf"|(?:核对|核实|查证|验证|核查|求证|检查|校对|查一查).{{0,20}}{_ZH_CLAIMED}"
        r"|(?:有没有|有无|是否有|没有|缺少|哪[几些]?句.{0,6})(?:文献|原文|论文)?的?(?:依据|出处|根据|支持)"
        r"|[段句处]?(?:引用|引文|话)[^，。]{0,4}(?:有没有错|对不对|准不准)|出处(?:对|准确|正确)|引用得?(?:对|准确|正确)|是不是(?:原文|论文里)|是否属实|(?:真的|真实)存在"
    ),
    "personalized_summary": (
        r"\b(?:what|papers?|those|studies|articles|works?|everything|to|with|than) (?:that )?"
        r"i(?:'ve| have)? (?:just |already |previously |recently |last )*(?:read|know|knew|seen|studied)\b"
        r"|\bmy (?:earlier |previous |past |own |other |current |recent |research )*"
        r"(?:readings?|background|interests?|project|research|thesis|field|work|expertise|profile)\b"
        r"|\b(?:someone|somebody|a person) (?:with|of) my\b|\bi work on\b|\btailor|\bpersonali[sz]ed"
        r"|我(?:以前|之前|此前|先前|上周|上个月|最近|已经|曾经?)[^，。]{0,6}[读看了]"
        r"|(?:按|结合|根据|针对|考虑|从|跟|与|和|对)我的?[^，。]{0,4}(?:背景|方向|课题|兴趣|项目|领域|专业|水平|研究|工作)"
        r"|我的(?:背景|研究方向|课题|兴趣|项目|领域|专业|(?:博士|硕士|毕业|学位)论文)|个性化|量身|我读过|我看过"
    ),
    "research": (
        r"\bsearch (?:\w+ )?(?:\w+ )?(?:arxiv|web|internet|online|literature|pubmed|for)\b"
        r"|\b(?:look|search) (?:beyond|outside|online|elsewhere|it up)"
        r"|\b(?:do|write|conduct|make|prepare|run|give me|need|want|produce) (?:me )?(?:an? )?(?:\w+ )?"
        r"(?:literature|systematic|state[- ]of[- ]the[- ]art) (?:review|survey|search|report)"
        r"|\bsurvey (?:of|on) the (?:field|literature|area)|\bsurvey the (?:field|literature|area)"
        r"|\bwhat(?:'s| is) (?:currently )?the (?:current |latest )?state of the art (?:in|of|for|on)\b"
        r"|\b(?:find|look for|search for|are there|recommend|suggest|show me) (?:me )?(?:any |some )?"
        rf"(?:other|recent|more|newer|related|similar|follow-?up|further|new|latest) (?:\w+ )?{_PAPERS}"
        r"|\b(?:who|which|what) (?:\w+ )?(?:has |have )?(?:since )?cit(?:ed|es?) (?:this|it)\b"
        r"|\bfollow-?up (?:work|papers|studies) (?:to|on|of) (?:this|it)\b"
        r"|^(?:please |can you )*(?:research|investigate)\b|\blatest (?:work|research|advances|progress) (?:on|in)"
        r"|\bany (?:newer|recent|more recent|follow-?up|other) (?:\w+ )?(?:work|papers?|studies|research)\b"
        r"|调研|(?:做|写|来|要|给)(?!系统综述)[^，。]{0,14}综述|^文献综述|(?<!审)查(?:一查|一下|找)?(?:文献|资料|论文)|上网|网上|联网"
        r"|(?:搜|搜索|搜一下|检索|查找|找找|找一?下?|推荐)[^，。]{0,10}(?:文献|论文|研究|工作|文章|资料)|arxiv ?上"
        r"|(?:最近|近来|近年)有[^，。]{0,4}进展|最新(?:的)?(?:进展|研究|论文|水平|成果|动态)|谁引用|被哪些[^，。]{0,4}引用|不要?只看"
    ),
    "compare": (
        rf"\b{_DIFFER}\b.{{0,60}}\b{_SEVERAL}\b|\b{_SEVERAL}\b.{{0,60}}\b{_DIFFER}\b"
        rf"|\bside[- ]by[- ]side\b|\b(?:vs\.?|versus)\b.{{0,40}}\b{_PAPERS}\b"
        r"|^(?:please |can you |could you )*(?:compare|contrast)\b"
        r"|\b[a-z]+ (?:et al\.? )?\(?(?:19|20)\d\d\)? (?:and|vs\.?|versus|with|or) [a-z]+ (?:et al\.? )?\(?(?:19|20)\d\d"
        r"|(?:对比(?!学习|损失|度|实验)|比较|异同|区别|差异|不同|一致|矛盾|谁|哪[篇个一]|并排|横向).{0,20}"
        r"(?:[两二三四五六几各多]|这些|那些|所有|选中)的?[篇项份](?!章)"
        r"|(?:[两二三四五六几各多]|这些|那些|所有|选中的?)的?[几两三四]?[篇项份].{0,24}"
        r"(?:对比(?!学习|损失|度)|比较|异同|区别|差异|不同|一致|矛盾|谁|哪[篇个一]|并排|横向|共同|相同)"
        r"|^(?:请|帮我|麻烦)*(?:对比|比较|对照)(?!学习|损失|度|实验|组)|(?:19|20)\d\d年?[和与跟].{0,12}(?:19|20)\d\d.{0,4}(?:区别|差异|不同|比)"
        r"|[a-z甲乙一二] ?文[和与跟][a-z ]{0,2}[甲乙一二]?文"
    ),
    "extract_charts": (
        rf"\b{_TAKE_OUT}\b.{{0,40}}\b{_SHOWN}"
        rf"|\b(?:data|numbers|values|points|coordinates)\b (?:\w+ )?(?:behind|of|in|from|for)\b.{{0,12}}\b{_SHOWN}"
        rf"|{_SHOWN}.{{0,30}}\b(?:csv|excel|data ?frame|spreadsheet|json)\b"
        r"|^(?:all |the |show )*(?:figures|tables|charts|plots)(?: and (?:figures|tables|charts))?(?: please)?\W*$"
        rf"|{_ZH_TAKE_OUT}.{{0,12}}{_ZH_SHOWN}|{_ZH_SHOWN}.{{0,14}}(?:csv|excel|数据点|{_ZH_TAKE_OUT})"
        r"|(?:哪些|什么|所有|全部|几张)图表"
    ),
    "critical": (
        r"\bcriti(?:que|ci[sz]e)|\bcritical(?:ly)? (?:review|appraisal|analysis|read|assess|evaluat)"
        r"|\bpeer[- ]review this|\breferee|\breviewers? (?:would|report|comments)|\bas a reviewer"
        r"|\bweak(?:ness(?:es)?|est (?:points?|part|link)| points?)\b|\bflaw(?:s|ed)?\b|\bholes\b"
        r"|\b(?:evaluation|comparison|test) fair\b|\b(?:be|play) (?:tough|harsh)\b|\bs[kc]eptic\b|\bthreats? to (?:the )?(?:\w+ )?validity|\bmissing baselines?|\bbaselines? (?:are|is) missing"
        r"|\b(?:poke|pick) (?:it |this )?(?:holes|apart)|\bdevil'?s advocate|\boverclaim|\bunconvinc"
        r"|\b(?:conclusions?|claims?|results|evidence) (?:really |actually |well )?(?:justified|warranted|convincing|hold up|sound|fall short)"
        r"|\bdon'?t (?:buy|believe|trust)\b|\bs[kc]eptical|\bhow (?:solid|convincing|sound|trustworthy)\b"
        r"|批判|批评|审稿|评审意见|挑(?:毛病|刺|错)|漏洞|站得住|站不住|薄弱|质疑|对?有效性的?威胁|靠谱|可信吗|严谨|硬伤|夸大|言过其实|证据[^，。]{0,4}(?:够|充分|不足)"
    ),
    "deep_read": (
        r"\bdeep[- ]?(?:read|dive)|\bclose(?:ly)? read|\b(?:reading|study) notes\b|\b(?:detailed|thorough|full|in-depth) notes"
        r"|\b(?:section|paragraph|page|chapter) by (?:section|paragraph|page|chapter)|\bevery section\b"
        r"|\bwalk me through (?:the|this) (?:whole |entire |full )?(?:paper|article|study)"
        r"|\bfrom (?:the )?(?:beginning|start) to (?:the )?(?:end|finish)|\bcover to cover|\bglossary\b"
        r"|\b(?:read|understand|explain|cover|study) (?:the|this) (?:whole|entire|full) (?:paper|article|thing)"
        r"|\b(?:study|read|understand|work through) (?:this|the) (?:paper|article|study) (?:properly|thoroughly|closely|carefully|in depth|in detail)"
        r"|精读|细读|深读|研读|通读|深度阅读|逐[节段章]|一[段节章]一[段节章]|(?:阅读|读书|学习|精读)笔记|从头到尾|术语表"
        r"|(?:把|将|对)?(?:全文|整篇)[^，。]{0,8}(?:过一遍|讲|解读|梳理|理一?遍|读)|(?:讲解|解读|梳理)[^，。]{0,4}(?:全文|整篇)"
    ),
    "extract": (
        r"^(?:please |can you |could you )*extract\b|\bextract (?:the |all |key )|\btabulate|\bstructured (?:form|table|data|summary)"
        r"|\b(?:into|as|in|make|give me|build) (?:me )?an? (?:\w+ )?table\b|\btable (?:with|listing)\b"
        r"|\bkey (?:numbers|facts|figures|data)\b(?! (?:about|on|behind))|\bfill in\b|\b(?:list|collect|pull out) (?:all|every|each)\b"
        r"|\b(?:to|as) csv\b|\bspreadsheet|\b(?:\w{3,15}(?: \w{1,15})? ?[/,] ?){3,6}\w+.{0,12}(?:table|one line|columns?|each)"
        r"|抽取|提取|提炼|(?:整理|列|汇总|做|归纳)成[^，。]{0,4}表|信息[卡表]|^关键(?:信息|数据|数字)|(?:给我|做|列|要)[^，。]{0,6}(?:参数|结果|数据|信息|指标)表|结构化|导出成|(?:填|列)一[张份]"
        r"|(?:列出|汇总)(?:所有|全部)"
    ),
}
_RULES = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _CUES.items()}
_ABOUT_CONTENT = re.compile(
    r"^(?:how|why|when|where|who|does|did|do)\b.{0,30}\b(?:authors?|they|annotators?|methods?|models?"
    r"|systems?|approach|algorithm|reviewers|participants|parser|retriever)\b"
    r"|^what (?:do|did|does) (?:the )?(?:authors?|they|paper|section)\b|^what .{0,40}\bsection \d"
    r"|(?:作者|模型|系统|他们|方法|算法|标注者|研究者)[^，。]{0,4}(?:怎么|如何|怎样|为什么|为何|是否)"
    r"|(?:部分|一节|章节)(?:里)?(?:提到|讲|说|写)|来自哪|是(?:怎么|如何|怎样)",
    re.IGNORECASE,
)
"""Asks what a paper tells of its own doing: "How did the authors verify the claims?"."""
_OF_PAPERS = ("personalized_summary", "compare")
"""What is asked for in such questions too: "How do the methods in these papers differ?"."""
_REFERENCE = re.compile(
    r"^\s*(?:\[\d+\]|\(?\d+[.)])\s+\S.{15,}\b(?:1[89]|20)\d\d[a-z]?\b", re.MULTILINE
)
_LONGEST = 1_000
"""Characters of a question that are looked at: what follows is pasted text."""


def wanted(question: str, known: Container[str]) -> tuple[str, str]:
    """Return the intent among `known` that the wording asks for, and the words that say so.

    Both are empty when nothing in the wording decides. Where several intents match, the first in
    the table of rules is meant: "compare the tables of these papers" compares.
    """
    plain = unicodedata.normalize("NFKC", question[:_LONGEST]).replace("’", "'")
    if "verify_sources" in known and (entry := _REFERENCE.search(plain)):
        return "verify_sources", entry.group().strip()[:40]
    told = _ABOUT_CONTENT.search(plain)
    for name, rule in _RULES.items():
        if told and name not in _OF_PAPERS:
            continue
        if name in known and (match := rule.search(plain)):
            return name, " ".join(match.group().split())[:40]
    return "", ""
