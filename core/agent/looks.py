"""The aspects most specialists look for, and how sentences that speak of them are known."""

from core.agent.aspects import Aspect
from core.agent.choosing import Look
from core.agent.measures import METRIC, QUALITY

_EXPERIMENTS = r"experiment|evaluation|set-?up|settings?|实验|评测|评估|设置"

TASK = Look(
    Aspect(
        "task",
        ("Task", "任务"),
        (
            "the problem this paper addresses; in this paper we propose, we study, our goal is",
            "本文研究的问题；本文提出，本文测量，目标，旨在",
        ),
    ),
    cues=r"\b(?:we|this (?:paper|work|study|article|report|thesis)|our (?:goal|aim|task|focus|objective))"
    r"\b(?:\W+\w+){0,4}?\W+(?:stud(?:y|ies)|propos|present|introduc|address|investigat|examin|describ"
    r"|tackl|focus|explor|aim|report|is to\b|seek|ask|consider)|\b(?:the|our|main|central|research) "
    r"(?:goal|aim|objective|task|problem|question|purpose)s? (?:of (?:this|the|our) [\w ]{1,30})?(?:is|was|are)\b"
    r"|本文[^。]{0,12}(?:研究|提出|测量|探讨|介绍|旨在|回答|说明|分析|考察|给出)|(?:目标|目的|任务)是|旨在",
    hints=r"\btask|\bproblem|\bgoal|\bchallenge|\bquestion|问题|任务|挑战|需求",
    home=r"problem (?:statement|definition|formulation)|task|问题定义|任务",
    near=r"^abstract|introduction|摘要|引言|绪论|前言",
    always=True,
)
METHOD = Look(
    Aspect(
        "method",
        ("Method", "方法"),
        (
            "the proposed method, model architecture, algorithm; we use, we train, consists of",
            "方法，模型，算法，结构；采用，使用，由……组成，提出",
        ),
    ),
    cues=r"\bwe (?:\w+ )?(?:use|propose|train|appl(?:y|ied)|adopt|employ|build|built|design|combine"
    r"|comput|fine-?tune|introduce|develop|present|formulate|leverag|extend|model)\w*\b"
    r"|\b(?:our|the proposed|this) (?:\w+ ){0,2}(?:method|model|approach|system|framework|algorithm"
    r"|architecture|technique|network|procedure|pipeline)\b"
    r"|本文[^。]{0,10}(?:采用|使用|提出|设计)|(?:我们|该方法|该模型|方法)[^。]{0,10}(?:采用|使用|提出|设计|通过)"
    r"|采用[^。]{1,20}(?:方法|办法|次序|模型|算法|设计)",
    hints=r"\bconsists? of|\bbased on|\bcomposed of|\bstandardi[sz]|\b(?:learned|trained|obtained|estimated|computed|implemented) (?:from|by|using|with|on)\b|\bencoder|\barchitecture|\bmethod"
    r"|\balgorithm|\bstep|方法|模型|算法|结构|使用|采用|步骤|编码器",
    home=r"\bmethod|approach|\bmodel\b|architecture|algorithm|methodology"
    r"|方法|模型结构|算法|总体结构|系统设计",
    near=r"^abstract|introduction|system|design|implementation|framework|training|摘要|引言|实现|设计|训练|结论",
    always=True,
)
DATA = Look(
    Aspect(
        "data",
        ("Data", "数据"),
        (
            "data set, corpus, benchmark, collected samples, participants, number of examples",
            "数据集，语料，样本，收集，数据来自，共有多少篇",
        ),
    ),
    cues=r"\b(?:data ?sets?|corpus|corpora|benchmarks?|treebank|test collections?|development halves"
    r"|train(?:ing)? (?:data|set|split)|test (?:data|set)|validation set)\b"
    r"|\b\d[\d,.]*k? (?:\w+ ){0,2}(?:participants|patients|subjects|respondents|samples|documents|images"
    r"|tables|articles|abstracts|papers|sentences|reports|questions|queries|records|examples|pairs)\b"
    r"|数据集|语料|样本|受试者|数据(?:是|来自|包括|由)|\d[\d,]*\s?(?:篇|条|张|名|位|例|个(?:标题|问题|段落|样本))",
    hints=r"\bcollect|\bconsists? of|\bcontain|\bsplit|\bannotat|\bgathered|\bsource|收集|采集|划分|标注|包含|来自|构成",
    home=r"\bdata\b|data ?sets?|corpus|corpora|materials?|participants|^[\d. ]*(?:实验)?数据|语料|样本|材料",
    near=rf"{_EXPERIMENTS}|^abstract|摘要",
    numbers=True,
)
METRICS = Look(
    Aspect(
        "metrics",
        ("Metrics", "指标"),
        (
            "evaluation metric, we report accuracy, F1, BLEU, recall, nDCG, error, measured by",
            "评价指标，指标为，准确率，召回率，得分，衡量",
        ),
    ),
    cues=QUALITY,
    hints=r"\b(?:metrics?|measures?)\b|\bwe (?:\w+ )?(?:report|measure|evaluate|score|assess)\w*\b"
    r"|\b(?:is|are|was|were) (?:measured|evaluated|assessed|scored) (?:by|with|using|in terms)"
    rf"|指标|衡量|度量|评[价测估]|{METRIC}",
    home=r"metrics?|\bmeasures?\b|evaluation (?:protocol|criteria)|指标|评价标准",
    near=rf"{_EXPERIMENTS}|results?|结果",
)
RESULTS = Look(
    Aspect(
        "results",
        ("Results", "结果"),
        (
            "results show, outperforms, achieves a score of, improvement over the baseline, best",
            "结果表明，得分为，优于，达到，提高，最好",
        ),
    ),
    cues=r"\b(?:outperform|achiev|surpass|exceed)\w*\b|\b(?:results?|findings?|experiments?|evaluation)"
    r" (?:\w+ ){0,3}?(?:show|demonstrat|suggest|indicat|reveal|confirm)\w*|\b(?:we|and) (?:find|found|got|observe|show"
    r"|obtain)\w*\b|\breach(?:es|ed)? (?:an? )?|\bstate[- ]of[- ]the[- ]art\b"
    r"|结果(?:表明|显示|说明)|优于|达到|得分[为是]|测得|用时|耗时|高于|低于|提高了|提升了|降低了|下降了|我们发现",
    hints=rf"{METRIC}|\bbest\b|\bbetter\b|\bimprov\w*|\bhigher\b|\blower\b|\bsignificant|最好|更好|更高|明显|显著",
    home=r"\bresults?\b|findings|结果",
    near=rf"^abstract|conclusion|discussion|{_EXPERIMENTS}|摘要|结论|讨论",
    numbers=True,
)
LIMITS = Look(
    Aspect(
        "limits",
        ("Limitations", "局限"),
        (
            "limitations, limited to, future work, we did not, cannot, caution, drawback",
            "局限，不足，未来工作，仅限，不能，没有考虑，有待",
        ),
    ),
    cues=r"\blimitations?\b|\bshortcomings?\b|\bdrawbacks?\b|\bfuture (?:work|research|stud)|\b(?:is|are|was|were)"
    r" (?:\w+ )?limited (?:to|by|in)\b|\bbeyond the scope\b|\bthreats? to\b|\bwe (?:did|do|have) not\b"
    r"|\bwe (?:leave|plan to)\b|\bshould be (?:interpreted|confirmed|treated)\b|\bmust be confirmed\b|\bcaveats?\b"
    r"|\bremains? (?:to be|an open|unclear|challenging|difficult)|\bopen (?:question|problem)s?\b"
    r"|局限|不足之处|未来工作|今后的?工作|有待|仅限于|尚未|缺点是|没有考虑|只能说明",
    hints=r"\bhowever\b|\bonly\b|\bcannot\b|\bnot\b|\bfail|\bsmall\b|但|然而|只|不能|无法|没有",
    home=r"limitation|threats?|future work|caveat|局限|不足|展望|未来",
    near=r"discussion|conclusion|讨论|结论|总结",
    sure=True,
)
