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
CLAIMS = Look(
    Aspect(
        "claims",
        ("Claims and the evidence for them", "主张与证据"),
        (
            "we show that, we demonstrate, our contribution, results show, outperforms, we conclude",
            "本文表明，结果表明，贡献，优于，结论",
        ),
    ),
    cues=r"\bwe (?:\w+ )?(?:show|demonstrate|prove|establish|conclude|achieve|obtain|find|found|argue)\w*\b"
    r"|\b(?:results?|experiments?|findings|analys[ei]s) (?:\w+ ){0,3}?(?:show|demonstrat|suggest|indicat|confirm)\w*"
    r"|\b(?:outperform|surpass|exceed)\w*\b|\bour (?:main )?contributions?\b|\bstate[- ]of[- ]the[- ]art\b"
    r"|结果(?:表明|显示)|本文(?:表明|证明)|优于|因此[，,]|我们(?:发现|证明)",
    hints=r"\bbest\b|\bbetter\b|\bimprov\w*|\bsignificant\w*|\bworthless|\bno single\b|\bmust\b|\balways\b|\btherefore\b|\bthus\b"
    r"|\bnever\b|最好|更好|显著|应当|必须|足以|只有",
    home=r"^$",
    near=r"^abstract|conclusion|contribution|introduction|摘要|结论|引言|贡献",
    always=True,
)
BASELINES = Look(
    Aspect(
        "baselines",
        ("Comparisons and ablations made", "已做的对比与消融"),
        (
            "compared with baselines, ablation study, previous methods, without the component",
            "与基线比较，消融实验，对照，去掉，与已有方法相比",
        ),
    ),
    cues=r"\bbaselines?\b|\bablat\w+|\bcompar(?:e|es|ed|ing|ison)\b.{0,60}\b(?:with|to|against|systems?|methods?"
    r"|models?|rules?)\b|\bcontrol group\b|\bplacebo\b|\b(?:removing|without) the \w+ (?:leads|drops|reduces)"
    r"|基线|消融|对照|[与和同][^，。]{1,20}(?:相比|比较|对比)|我们比较",
    hints=r"\bbetter|\bworse|\bthan\b|\bagainst\b|高于|低于|不如|优于",
    home=r"baselines?|ablation|comparison|消融|对比",
    near=rf"{_EXPERIMENTS}|results?|结果",
)
STATISTICS = Look(
    Aspect(
        "statistics",
        ("Samples, spread and significance", "样本、波动与显著性"),
        (
            "number of samples, participants, runs, seeds, standard deviation, confidence interval, p value",
            "样本量，重复次数，标准差，置信区间，显著性，随机种子",
        ),
    ),
    cues=r"\bstatistical(?:ly)? (?:\w+ )?(?:significan|test)\w*|\bsignificance\b|\bconfidence intervals?\b|\bp ?[<=>] ?0?\.\d"
    r"|\bp-values?\b|\bstandard (?:deviation|error)s?\b|\bvariance\b|\bbootstrap\b|\b(?:random )?seeds\b|\berror bars?\b"
    r"|\b(?:averaged?|mean) (?:over|of) \d+|\b(?:two|three|five|ten|\d+) (?:\w+ )?(?:runs|trials|repetitions|repeats|folds)\b"
    r"|\bsample sizes?\b|\bn ?= ?\d+|\bwithin chance\b|\b\d[\d,]* (?:\w+ )?(?:participants|patients|subjects)\b"
    r"|显著性|置信区间|标准差|随机种子|重复(?:了)?[两三四五六\d]+次|样本量|次试验",
    hints="",
    home=r"statistic|统计",
    near=rf"{_EXPERIMENTS}|results?|limitation|discussion|结果|局限|讨论",
)
THREATS = Look(
    Aspect(
        "threats",
        ("Threats to validity", "有效性威胁"),
        (
            "only one, a single, small sample, biased, synthetic data, assumption, favours, may not generalise",
            "只有一个，样本小，偏差，假设，合成数据，由模型生成，难以推广",
        ),
    ),
    cues=r"\bthreats? to\b|\bbias(?:ed|es)?\b|\bconfound\w*|\bassum(?:e|es|ed|ption|ptions|ing)\b|\bsynthetic(?:ally)?\b"
    r"|\b(?:small|limited) samples?\b|\b(?:only|just) (?:one|a single|two|a few)\b|\bfew questions\b"
    r"|\b(?:may|might|does|do|did|could) not (?:generali[sz]e|hold|apply|reflect|transfer)|\bfavou?rs\b|\boverfit\w*"
    r"|\bcherry|\bleak(?:age|s|ed)?\b|\bcontaminat\w*|\bgenerated by (?:an? )?(?:\w+ )?(?:LLM|language model|GPT)"
    r"|\bwithout a protocol\b|\bself-reported\b|\bdevelopment hal(?:f|ves)\b"
    r"|偏差|假设|合成|样本(?:量)?(?:较|太)?[小少]|由(?:语言)?模型(?:写|生成)|出自语言模型|难以推广|只测量了|开发集|过拟合|只有 ?\d+ ?[篇个名例]",
    hints=r"\bhowever\b|\bbut\b|\bonly\b|\bchance\b|但|然而|只|仅",
    home=r"limitation|threats?|局限|威胁",
    near=rf"discussion|conclusion|{_EXPERIMENTS}|\bdata\b|讨论|结论|数据",
)
