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


STOP_WORDS = words("""
    a an the this that these those it its they their them we our us he she his her i you your
    is are was were be been being am do does did has have had having will would shall should can
    could may might must of in on at by for from to with into onto over under between among as
    about than then so such and or but if while when where which who whom whose what how why also
    very more most less least much many few some any each every all both either one only own same
    other another there here up down out off again further not no nor neither never without however thus
    therefore hence per via using used use based s t d ll re ve paper study authors author work
    results result show shows showed shown found find finds
""")
"""Words that carry no support of their own."""

HAN_FUNCTION = "的了在是和与对为中而且及或被把将也都就还又这那其该此以于从到由所等之并则但个些们地得着过我它他她你"
"""Han characters at which a run is cut before it is taken for a word."""

NEGATIONS = (
    "not", "no", "never", "without", "none", "nor", "neither", "cannot", "fail", "fails", "failed",
    "lack", "lacks", "lacked", "lacking", "absence", "absent", "unable", "hardly", "nothing", "scarcely",
    "nobody", "nowhere", "unaffected", "unchanged", "unaltered", "unrelated", "uncorrelated",
)  # fmt: skip
HAN_NEGATIONS = (
    "没有", "没能", "无法", "不能", "不会", "不是", "不存在", "不需要", "不需", "无需", "未能",
    "未见", "并未", "并不", "并无", "并非", "从未", "毫无", "缺乏", "缺少", "不具备", "不支持",
    "不使用", "不包含", "不包括", "不依赖", "不影响", "未发现", "未使用", "不显著", "不可", "不足以",
    "不采用", "不适用", "不适合", "不要求", "不含", "不再", "不必", "不用", "不提供", "不优于", "不如预期",
    "无显著", "无明显", "未达到", "未观察到", "尚未", "未", "不", "没", "无",
)  # fmt: skip
NOT_NEGATIONS = (
    "not only", "no less than", "no fewer than", "not just", "not merely", "no. ",
)  # fmt: skip
HAN_NOT_NEGATIONS = (
    "不仅", "不但", "不只", "不断", "不同", "不过", "不少", "不久", "不论", "不管", "不等", "不确定性",
    "无论", "无监督", "无线", "无人机", "无偏", "未来", "未知", "不可或缺", "不得不", "无穷", "无关紧要",
    "不如", "不平衡", "不稳定性", "不变性", "无向图", "无序", "不良", "不良反应", "不利", "无机", "不及",
)  # fmt: skip

PHRASES: tuple[tuple[str, str], ...] = (
    (r"\b(?:at least|no (?:fewer|less) than|not (?:fewer|less) than|a minimum of)\b", "atleast"),
    (r"\b(?:at most|no more than|not more than|up to|a maximum of)\b", "atmost"),
    (r"不少于|不低于|不小于|至少|起码", " atleast "),
    (r"不超过|不多于|不高于|不大于|至多|最多(?=[\d一二三四五六七八九十])", " atmost "),
    (r"\b(?:go|goes|going|gone|went|come|comes|came) down\b", "decreased"),
    (r"\b(?:go|goes|going|gone|went) up\b", "increased"),
    (r"\b(?:take|takes|took|taken|taking) part\b", "participated"),
    (r"\b(?:quite|not) a few\b", "many"),
    (r"\ba few\b", "several"),
    (r"\bonly (?:a (?:few|handful|minority)|one|two|three)(?: of| out of)?\b", "few"),
    (r"(?:只有|仅有|仅)[一二两三](?:[名个位人例项篇家])", " 少数 "),
    (
        r"\b(?:twice|(?:two|three|four|five|six|ten|several|many|[\d.]+) times) as \w+ as\b",
        "more than",
    ),
    (
        r"\b(?:twice|double|(?:two|three|four|five|six|ten|several|[\d.]+) times)"
        r" (?=(?:that|those) (?:of|in|for|with)\b|the [a-z]+ of\b)",
        "more than ",
    ),
    (r"(?<=比)(\w{1,12}?)(?<![更最])([快慢高低多少大小长短好差强弱])(?!\w{0,12}比)", r"\1更\2"),
    (r"越([快慢高低多少大小长短好差强弱])", r"更\1"),
    (r"更(准确|精确|可靠|稳定|有效|安全)", r"\1性更高"),
    (r"\b(?:make|makes|made) no difference\b", "not change"),
    (r"\bfar from\b", "not"),
    (
        r"\b(?:a|one)[ -](?:half|third|quarter|fifth|tenth|hundredth) of the "
        r"(?=(?:\w+ ){1,3}(?:that|needed|required|used)\b)",
        "less ",
    ),
    (
        r"\ba (?:small|tiny|minor) (?:fraction|share|part|portion|number|percentage|proportion) of\b",
        "few",
    ),
    (r"\ba (?:large|great|major) (?:fraction|share|part|portion|number|proportion) of\b", "many"),
    (
        r"(?:只有|仅为|仅有|不到|不足)([^，,。;]{1,12}?)的?(?:[二三四五六七八九十]分之[一二三四五六七八九]|一半)",
        r"低于\1",
    ),
    (r"\bhalf as \w+ as\b", "less than"),
    (r"(?<=[是为达])([^，,。;]{1,12}?)的?[两二三四五六七八九十\d.]+倍", r"高于\1"),
    (
        r"\b(?:on (?:a )?par|as (?:good|fast|accurate|large|high|low|strong|effective) as)\b",
        "equal",
    ),
    (
        r"\blittle (?=(?:or no )?(?:effect|impact|influence|benefit|evidence|change|difference|gain)\b)",
        "no ",
    ),
    (r"\b(?:fail|fails|failed) (?!to\b|in\b)", "unsuccessful "),
)
"""Patterns for what several words say together, and the word of the tables that says the same."""

IRREGULAR = dict(
    pair.split(":")
    for pair in [
        "kept:keep",
        "fell:fall",
        "fallen:fall",
        "rose:rise",
        "risen:rise",
        "grew:grow",
        "grown:grow",
        "led:lead",
        "gave:give",
        "given:give",
        "took:take",
        "taken:take",
        "made:make",
        "held:hold",
        "built:build",
        "drew:draw",
        "drawn:draw",
        "chose:choose",
        "chosen:choose",
        "wrote:write",
        "written:write",
        "shown:show",
        "sent:send",
        "spent:spend",
        "lost:lose",
        "met:meet",
        "got:get",
        "ran:run",
        "began:begin",
        "begun:begin",
        "sought:seek",
        "thought:think",
        "brought:bring",
        "taught:teach",
        "bought:buy",
        "sold:sell",
        "told:tell",
        "came:come",
        "became:become",
        "went:go",
        "gone:go",
        "spoke:speak",
        "spoken:speak",
        "broke:break",
        "broken:break",
        "froze:freeze",
        "frozen:freeze",
        "withdrew:withdraw",
        "fed:feed",
        "bred:breed",
        "bore:bear",
        "borne:bear",
        "stood:stand",
        "understood:understand",
        "left:leave",
        "slept:sleep",
        "felt:feel",
        "dealt:deal",
        "meant:mean",
        "sped:speed",
        "mice:mouse",
        "men:man",
        "women:woman",
        "children:child",
        "feet:foot",
        "analyses:analysis",
        "hypotheses:hypothesis",
        "criteria:criterion",
        "indices:index",
        "matrices:matrix",
        "unaffected:affect",
        "unchanged:change",
        "unaltered:alter",
        "unrelated:related",
        "uncorrelated:correlate",
    ]
)
"""Forms that no ending tells, and the word they are forms of."""

AXES: tuple[tuple[frozenset[str], frozenset[str]], ...] = (
    (
        words("""increase increases increased increasing rise rises rose risen rising grow grows
        climb climbs climbed soar soars soared surge surges surged doubled tripled quadrupled amplified prolong prolongs prolonged delay delays delayed
        grew grown growth higher greater larger more exceed exceeds exceeded above raise raises
        raised elevated upregulated expand expands expanded longer gain gains
        增加 增多 提高 提升 上升 增长 高于 更高 更多 更大 超过 扩大 增大 升高 变大 更长 大于 多于 高出 上调 延长"""),
        words("""decrease decreases decreased decreasing reduce reduces reduced reducing reduction
        dwindle dwindles dwindled plummet plummeted halve halves halved attenuate attenuated
        decline declines declined declining drop drops dropped fall falls fell fallen lower lowers
        lowered less fewer smaller below shorter diminish diminished shrink shrinks shrank cut cuts
        downregulated 减少 不及 降低 下降 减小 低于 更低 更少 更小 缩小 下跌 变小 更短 小于 少于 下调 缩短 降至"""),
    ),
    (
        words("""improve improves improved improving improvement better outperform outperforms
        outperformed superior best enhance enhances enhanced help helps helped benefited outscore outscores outscored outrank outranks outranked outpace outpaces outpaced beat beats surpass surpasses surpassed
        优于 更好 改善 改进 胜过 超越 最好 最优 增强 好于 强于"""),
        words("""worsen worsens worsened worse underperform underperforms underperformed inferior
        worst degrade degrades degraded degradation deteriorate deteriorates deteriorated hurt hurts harm harms harmed impair impairs impaired
        劣于 更差 恶化 变差 不如 最差 减弱 逊于 差于 弱于 退化"""),
    ),
    (
        words("faster fast quick quickly quicker fastest accelerate accelerates accelerated sped "
              "更快 加快 加速 最快 快于 快速"),
        words("slower slow slowly slowest slowed slows 更慢 减慢 缓慢 最慢 慢于 变慢"),
    ),
    (words("before prior 之前 以前 治疗前 术前 训练前 干预前"), words("after following 之后 以后 晚于 治疗后 术后 训练后 干预后")),
    (
        words("positive positively beneficial 正相关 阳性 正面 有益 积极"),
        words("negative negatively harmful inverse inversely 负相关 阴性 负面 有害 消极"),
    ),
    (
        words("""activate activates activated promote promotes promoted induce induces induced
        stimulate stimulates stimulated 促进 激活 诱导 刺激"""),
        words("""inhibit inhibits inhibited suppress suppresses suppressed block blocks blocked
        prevent prevents prevented 抑制 阻断 阻止"""),
    ),
    (words("same identical similar equal equivalent 相同 一致 相似 相等 相当"),
     words("different differ differs distinct unequal 不同 不一致 差异 有别")),
    (words("maximum maximize maximise maximal maximizes highest largest most peak peaks peaked 最大 最高 最多 最大化"),
     words("minimum minimize minimise minimal minimizes lowest smallest least 最小 最低 最少 最小化")),
    (words("success succeed succeeds succeeded successful successfully 成功"),
     words("failure unsuccessful unsuccessfully 失败")),
    (words("include includes included including 包括 包含 纳入"),
     words("exclude excludes excluded excluding 排除 剔除 不包括 不包含")),
    (words("supervised 有监督"), words("unsupervised 无监督")),
    (words("sufficient enough adequate 足够 充分"), words("insufficient inadequate 不足 不够")),
    (words("easy easier simple simpler 容易 简单 更易"),
     words("difficult harder hard complex 困难 复杂 更难")),
    (words("possible able 可行 能够 可以"), words("impossible infeasible 不可行 不可能 不能 无法")),
    (words("stable 稳定"), words("unstable instability 不稳定")),
    (words("significant significantly 显著"), words("insignificant nonsignificant 不显著")),
    (words("known 已知"), words("unknown unclear 未知 不清楚 尚不清楚")),
    (words("always 总是 始终"), words("never rarely 从不 很少")),
    (words("open-source public publicly 开源 公开"), words("proprietary private closed 闭源 私有")),
    (words("encoder 编码器"), words("decoder 解码器")),
    (words("male males men boys 男性 男"), words("female females women girls 女性 女")),
    (words("common commonly frequent frequently often widespread prevalent ubiquitous 常见 普遍 频繁"),
     words("rare rarely uncommon infrequent infrequently seldom scarce sparse 罕见 少见 很少 稀少")),
    (words("""persist persists persisted persisting persistent remain remains remained 持续存在
           仍然存在 依然存在 保留"""),
     words("disappear disappears disappeared vanish vanishes vanished fade fades faded 消失 不复存在")),
    (words("left leftward leftwards 左侧 左脑 左眼 左手"), words("right rightward rightwards 右侧 右脑 右眼 右手")),
    (words("upper top 上部 顶部"), words("bottom 下部 底部")),
    (words("early 早期 前期 初期"), words("late 晚期 后期 末期")),
    (words("accept accepts accepted confirm confirms confirmed support supports supported 接受 证实"),
     words("reject rejects rejected refute refutes refuted contradict contradicts contradicted "
           "disprove disproves disproved 拒绝 反驳 推翻 否定")),
    (words("strong strongly stronger 强 较强 更强"), words("weak weakly weaker 弱 较弱 更弱")),
    (words("present presence 存在"), words("missing 缺失")),
    (words("cheap cheaper inexpensive 便宜 廉价"), words("expensive costly 昂贵")),
    (words("atleast"), words("atmost")),
    (words("earlier 早于"), words("later")),
    (words("high"), words("low")),
    (words("substantial substantially considerable considerably marked markedly pronounced dramatic "
           "dramatically sharply steeply 大幅 大幅度"),
     words("little slight slightly minor negligible marginal marginally 略微 轻微 小幅 微弱")),
    (words("""many much most majority numerous plenty nearly-all abundant 很多 许多 大多数 多数 大部分 绝大部分 大量 众多
           不少 比比皆是"""),
     words("few minority scarcely handful 极少 很少 甚少 少数 鲜有 寥寥 少有")),
)  # fmt: skip
"""Opposites: where a sentence is at one pole and its evidence at the other, they disagree."""

STRONG = words("""
    all always every entirely completely fully any guarantees guarantee guaranteed proves prove
    proven proved certainly definitely 所有 全部 总是 始终 完全 任何 一切 证明 保证 必然 一定 每个 均
""")
WEAK = words("""
    some most many several sometimes often usually mostly partially partly typically generally
    部分 大多数 多数 有些 某些 一些 有时 往往 通常 常常 大多 大部分 一般 half 半数 一半 过半 多半 几乎 almost nearly majority minority
""")
HEDGES = words("""
    may might could possibly perhaps probably likely suggest suggests suggested suggesting appear
    claimed believed alleged allegedly purported purportedly conjectured presumably supposedly
    appears seem seems potentially hypothesize hypothesise speculate 可能 或许 也许 似乎 大概 推测 疑似 或可 有望 据称 据说 被认为
""")
CONDITIONS = words(
    "if unless whether provided assuming hypothetically 如果 假如 若是 倘若 是否 除非 假设"
)
WHEN = words("when whenever where case cases 时 当 情况")
CAUSES = words("cause causes caused causing leads lead led because due 导致 引起 造成 致使 使得")
CORRELATES = words("""
    associated association correlated correlate correlates correlation linked 相关 关联
""")
COMPARATORS = words("""
    than outscore outscores outscored outrank outranks outranked outpace outpaces outpaced outperform outperforms outperformed beat beats surpass surpasses surpassed exceed exceeds
    exceeded underperform underperforms underperformed 优于 超过 高于 低于 劣于 不如 不及 胜过 超越 多于 少于 快于
    慢于 大于 小于 好于 差于
""")

SCALES = {
    "thousand": 1e3, "k": 1e3, "million": 1e6, "m": 1e6, "billion": 1e9, "b": 1e9, "bn": 1e9,
    "trillion": 1e12, "十": 1e1, "百": 1e2, "千": 1e3, "万": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8,
    "十亿": 1e9, "hundred": 1e2,
}  # fmt: skip
NUMBER_WORDS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "twenty": 20, "thirty": 30, "fifty": 50, "hundred": 100,
    "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
    "nineteen": 19, "forty": 40, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
    "half": 0.5, "twice": 2, "double": 2, "doubles": 2, "doubled": 2, "triple": 3, "dozen": 12,
    "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
    "一半": 0.5, "翻倍": 2,
}  # fmt: skip
HAN_MEASURED = {
    **dict.fromkeys("名位人例", "名"), **dict.fromkeys("篇部本册", "篇"), **dict.fromkeys("份条项款", "份"),
    **dict.fromkeys("颗粒", "颗"), **dict.fromkeys("家所座", "家"), **dict.fromkeys("层阶", "层"), "株": "株",
    "台": "台", "张": "张", "组": "组", "头": "头", "只": "只", "户": "户", "口": "口", "块": "块", "种": "种",
    "次": "次", "轮": "轮", "门": "门", "期": "期", "对": "对", "句": "句", "词": "词",
}  # fmt: skip
"""Measure words after a number, and the one that stands for those of a kind."""
HAN_COUNTED = "个种项名类层次组篇倍年天位台张条款段步轮维份例人阶头块台折"
"""Measure words: a Han numeral before one of them counts something."""

UNITS: dict[str, tuple[str, float]] = {
    "%": ("percent", 1), "percent": ("percent", 1), "percentage": ("percent", 1),
    "百分点": ("percent", 1), "个百分点": ("percent", 1), "‰": ("percent", 0.1),
    "ns": ("time", 1e-9), "µs": ("time", 1e-6), "μs": ("time", 1e-6), "us": ("time", 1e-6),
    "ms": ("time", 1e-3), "millisecond": ("time", 1e-3), "milliseconds": ("time", 1e-3),
    "毫秒": ("time", 1e-3), "微秒": ("time", 1e-6), "s": ("time", 1), "sec": ("time", 1),
    "second": ("time", 1), "seconds": ("time", 1), "秒": ("time", 1), "min": ("time", 60),
    "minute": ("time", 60), "minutes": ("time", 60), "分钟": ("time", 60), "h": ("time", 3600),
    "hour": ("time", 3600), "hours": ("time", 3600), "小时": ("time", 3600),
    "day": ("time", 86400), "days": ("time", 86400), "天": ("time", 86400), "日": ("date", 1),
    "week": ("time", 604800), "weeks": ("time", 604800), "周": ("time", 604800),
    "month": ("months", 1), "months": ("months", 1), "个月": ("months", 1), "year": ("months", 12),
    "years": ("months", 12), "月": ("date", 1),
    "kb": ("bytes", 1e3), "mb": ("bytes", 1e6), "gb": ("bytes", 1e9), "tb": ("bytes", 1e12),
    "mg": ("mass", 1e-3), "g": ("mass", 1), "kg": ("mass", 1e3), "克": ("mass", 1),
    "千克": ("mass", 1e3), "公斤": ("mass", 1e3), "毫克": ("mass", 1e-3), "µg": ("mass", 1e-6),
    "nm": ("length", 1e-9), "µm": ("length", 1e-6), "mm": ("length", 1e-3), "cm": ("length", 1e-2),
    "km": ("length", 1e3), "米": ("length", 1), "厘米": ("length", 1e-2), "毫米": ("length", 1e-3),
    "公里": ("length", 1e3), "meters": ("length", 1), "metres": ("length", 1),
    "hz": ("frequency", 1), "khz": ("frequency", 1e3), "mhz": ("frequency", 1e6),
    "ghz": ("frequency", 1e9), "°c": ("celsius", 1), "℃": ("celsius", 1), "°f": ("fahrenheit", 1),
    "ml": ("volume", 1e-3), "l": ("volume", 1), "毫升": ("volume", 1e-3), "升": ("volume", 1),
    "mw": ("power", 1e-3), "w": ("power", 1), "kw": ("power", 1e3), "瓦": ("power", 1),
    "kilobyte": ("bytes", 1e3), "kilobytes": ("bytes", 1e3), "megabyte": ("bytes", 1e6),
    "megabytes": ("bytes", 1e6), "gigabyte": ("bytes", 1e9), "gigabytes": ("bytes", 1e9),
    "terabyte": ("bytes", 1e12), "terabytes": ("bytes", 1e12), "milligram": ("mass", 1e-3),
    "milligrams": ("mass", 1e-3), "gram": ("mass", 1), "grams": ("mass", 1),
    "kilogram": ("mass", 1e3), "kilograms": ("mass", 1e3), "meter": ("length", 1),
    "metre": ("length", 1), "kilometre": ("length", 1e3), "kilometres": ("length", 1e3),
    "kilometer": ("length", 1e3), "kilometers": ("length", 1e3), "millimetres": ("length", 1e-3),
    "millimeters": ("length", 1e-3), "centimetres": ("length", 1e-2),
    "centimeters": ("length", 1e-2), "litre": ("volume", 1), "litres": ("volume", 1),
    "liter": ("volume", 1), "liters": ("volume", 1), "millilitres": ("volume", 1e-3),
    "milliliters": ("volume", 1e-3), "square metres": ("area", 1), "square meters": ("area", 1),
    "square kilometres": ("area", 1e6), "square kilometers": ("area", 1e6), "hectare": ("area", 1e4),
    "hectares": ("area", 1e4), "acre": ("area", 4046.86), "acres": ("area", 4046.86),
    "平方米": ("area", 1), "公顷": ("area", 1e4), "平方公里": ("area", 1e6), "mah": ("charge", 1e-3),
    "ah": ("charge", 1), "毫安时": ("charge", 1e-3), "安时": ("charge", 1),
    "cubic metres": ("volume", 1e3), "cubic meters": ("volume", 1e3), "立方米": ("volume", 1e3),
    "mmhg": ("pressure", 133.3), "kpa": ("pressure", 1e3), "mpa": ("pressure", 1e6),
    "kj": ("energy", 1e3), "kwh": ("energy", 3.6e6), "ppm": ("ppm", 1), "mmol": ("moles", 1e-3),
    "mol": ("moles", 1), "吨": ("mass", 1e6), "tonnes": ("mass", 1e6), "亩": ("area", 666.67),
    "x": ("times", 1), "fold": ("times", 1), "times": ("times", 1), "倍": ("times", 1),
    "v": ("voltage", 1), "mv": ("voltage", 1e-3), "usd": ("dollar", 1), "dollars": ("dollar", 1),
    "美元": ("dollar", 1), "元": ("yuan", 1), "yuan": ("yuan", 1),
}  # fmt: skip
"""Unit → (what it measures, how many of the base unit)."""

EXCLUSIVE: tuple[frozenset[str], ...] = (
    words("""mice mouse rats rat humans human people monkeys monkey rabbits rabbit dogs dog cats cat
    pigs pig zebrafish flies drosophila yeast sheep cattle birds fish chickens ferrets 小鼠 大鼠 人类
    猴子 兔子 猪 狗 猫 斑马鱼 果蝇 酵母"""),
    words("left right central 左 右"),
    words("快 慢"),
    words("年 月 周 日"),
    words("强 弱"),
    words("anterior posterior dorsal ventral lateral medial 前部 后部 背侧 腹侧 外侧 内侧"),
    words("north south east west northern southern eastern western 北部 南部 东部 西部 北方 南方"),
    words("spring summer autumn winter 春季 夏季 秋季 冬季 春 夏 秋 冬"),
    words(
        """january february march april may june july august september october november december"""
    ),
    words("monday tuesday wednesday thursday friday saturday sunday"),
    words("red green blue yellow black white orange purple brown 红 绿 蓝 黄 黑 白 红色 绿色 蓝色"),
    words("""children child infants infant adults adult adolescents adolescent teenagers elderly
    newborns toddlers 儿童 婴儿 成人 成年人 青少年 老年人 老人"""),
    words("male female men women boys girls mothers fathers 男 女 男性 女性 母亲 父亲"),
    words("training train test testing validation 训练集 测试集 验证集 训练 测试 验证"),
    words("encoder decoder 编码器 解码器"),
    words("first second third fourth fifth 第一 第二 第三 第四 第五"),
    words("first last 首先 最后 首 末 第一 最后"),
    words("mean median mode variance 均值 中位数 众数 方差"),
    words("precision recall accuracy 精确率 召回率 准确率"),
    words(
        "heart lung liver kidney brain stomach skin breast prostate colon 心脏 肺 肝 肾 大脑 胃 皮肤"
    ),
    words("oxygen nitrogen hydrogen carbon sodium potassium calcium iron copper zinc 氧 氮 氢 碳"),
    words("linear quadratic cubic exponential logarithmic 线性 二次 三次 指数 对数"),
    words("supervised unsupervised 有监督 无监督"),
    words("daily weekly monthly yearly annually hourly 每天 每日 每周 每月 每年"),
    words("morning afternoon evening night 早晨 上午 下午 晚上 夜间"),
    words("urban rural 城市 农村"),
    words("input output 输入 输出"),
    words("row column rows columns 行 列"),
    words("horizontal vertical 水平 垂直"),
    words("minimum maximum minimize maximize 最小 最大"),
    words("text image images video audio speech 文本 图像 视频 音频 语音"),
    words("teacher teachers student students 教师 学生"),
    words("treatment control placebo 治疗组 对照组 实验组 安慰剂组 实验 对照"),
    words("chinese english french german japanese spanish russian arabic 中文 英文 法语 德语 日语"),
    words("""中国 美国 英国 法国 德国 日本 韩国 印度 俄罗斯 巴西 加拿大 意大利 澳大利亚 西班牙 荷兰
    瑞士 瑞典 新加坡"""),
    words("""北京 上海 天津 重庆 广州 深圳 南京 杭州 武汉 成都 西安 苏州 长沙 郑州 济南 青岛 大连 沈阳
    哈尔滨 长春 合肥 福州 厦门 南昌 昆明 贵阳 兰州 太原 香港 澳门 台北"""),
    words("""河北 山西 辽宁 吉林 黑龙江 江苏 浙江 安徽 福建 江西 山东 河南 湖北 湖南 广东 海南 四川 贵州
    云南 陕西 甘肃 青海 内蒙古 广西 西藏 宁夏 新疆"""),
)
"""Kinds of things of which what is said of one is not said of another."""

HAN_NAMED = (
    "大学", "学院", "医院", "研究所", "研究院", "实验室", "公司", "集团", "银行", "出版社", "教授", "团队",
    "等人", "等", "省", "市", "县", "区", "州", "镇", "村", "国", "河", "湖", "山", "岛", "海", "站",
)  # fmt: skip
"""What the names of Chinese places, bodies and authors end in or are followed by."""

SYNONYMS: tuple[frozenset[str], ...] = tuple(
    words(line)
    for line in """
    use uses used using employ employs employed apply applies applied adopt adopts adopted utilise utilize utilised utilized leverage leverages leveraged exploit exploits
    show shows showed shown demonstrate demonstrates demonstrated reveal reveals revealed indicate indicates indicated report reports reported
    receive receives received get gets got given
    find finds found observe observes observed see seen detect detected identify identified discover discovered
    propose proposes proposed introduce introduces introduced present presents presented describe describes described develop developed design designed devise devised
    enrol enroll enrolled recruit recruited include included involve involved comprise comprised
    contain contains contained comprise comprises include includes included consist consists have has hold holds
    method approach technique procedure algorithm strategy scheme
    methods approaches techniques procedures algorithms strategies schemes
    model models system systems network networks architecture
    dataset data corpus collection set benchmark
    participants subjects volunteers people individuals respondents
    patients subjects cases people individuals
    children kids
    humans people human persons
    mice mouse murine rodents
    men male males man
    women female females woman
    elderly older seniors
    test testing evaluation
    training train trained
    increase increased raise raised boost boosted rise rose grow grew improve improved
    decrease decreased reduce reduced lower lowered cut decline declined drop dropped fall fell diminish diminished
    improve improves improved enhance enhances enhanced boost boosts boosted better
    worsen worsened degrade degraded hurt hurts harm harms deteriorate deteriorated
    fast quick rapid quickly rapidly
    large big great substantial considerable
    small little minor slight
    important crucial key essential vital
    need needs require requires required demand demands take takes took
    cost costs expense price
    begin began start started
    end ended finish finished stop stopped cease ceased
    obtain obtained achieve achieved achieves reach reached attain attained get got yield yields yielded
    evaluate evaluated assess assessed test tested measure measured examine examined investigate investigated study studied
    collect collects collected gather gathers gathered came come drawn taken
    store stored keep kept
    calculate calculated compute computed estimate estimated determine determined
    perform performed conduct conducted carry carried run ran execute executed do done undertake
    make made build built create created construct constructed produce produced generate generated
    cause causes caused lead leads led induce induces induced trigger triggers
    allow allows enable enables permit permits let lets
    help helps aid aids assist assists
    choose chose chosen select selected pick picked
    set fixed kept
    give gives given gave provide provides provided administer administered supply
    part portion share fraction proportion percentage
    amount quantity number
    effect impact influence
    affect affects affected influence influences influenced impact impacts
    drug medication medicine
    disease illness disorder
    mortality death deaths
    error mistake errors mistakes
    speed rate velocity
    time duration period
    license licence
    available accessible released
    mean average
    approximately about roughly around nearly almost
    main major primary principal chief
    final last
    novel new
    entire whole complete full
    accuracy correctness
    performance results
    paper article work study
    task problem
    layer layers block blocks
    weights parameters
    remain remains stay stays keep keeps stayed remained
    consist consists compose composed comprise make
    publish published appear appeared release released
    sentence sentences utterance utterances
    page pages
    document documents text texts article articles
    picture pictures image images photo photos
    author authors researcher researchers scientist scientists team
    because since due owing
    hypothesis assumption conjecture
    difference differences gap discrepancy
    frequency rate incidence
    depend depends rely relies hinge
    explain explains account accounts
    predict predicts forecast forecasts
    seen observed
    combine combines merge merges fuse fuses join
    remove removed removing drop dropped delete deleted eliminate eliminated omit omitted
    process processes handle handles
    machine computer
    old age aged
    effect effects affect affects affected influence influences influenced impact impacts
    difference change changes changed
    每天 每日
    bring brings brought yield yields yielded
    answer answered answers return returned reply replied respond responded complete completed fill filled
    participate participated participates attend attended
    interview interviewed interviews survey surveyed surveys question questioned
    spin spun centrifuge centrifuged
    household households family families
    doctor doctors physician physicians clinician clinicians
    pupil pupils student students learner learners
    teacher teachers instructor instructors
    infant infants baby babies newborn newborns
    tumour tumours tumor tumors cancer cancers
    comparable par equal equivalent similar alike
    label labels labelled annotate annotated annotation annotations
    word words term terms token tokens
    text texts passage passages
    search searches retrieval retrieve retrieves
    translate translated translation translations
    classify classified classification classifier classifiers
    prefer prefers preferred favour favoured favor favored
    advise advised advice recommend recommended recommends
    last lasts lasted run ran
    occur occurs occurred happen happens happened arise arises arose
    start starts onset beginning
    gauge gauged assess assessed
    link linked tie tied relate related associate associated connect connected
    crop crops yield harvest
    pay pays paid fund funded finance financed
    speaker speakers talker
    weigh weighs weighed weight mass
    wide width breadth
    deep depth
    long length
    tall height
    car cars vehicle vehicles automobile
    home homes dwelling dwellings
    town city urban
    village villages rural countryside
    sick ill unwell
    dead died die dies
    treat treated treatment therapy therapies
    surgery surgical operation operations
    injection injected inject injections
    error errors fault faults
    gather gathered compile compiled
    dependable reliable reliability
    agree agreed agreement consensus
    """.strip().splitlines()
)
"""Words that may stand for one another without a change in meaning."""

HAN_SYNONYMS = words("""
    采用 使用 利用 运用 应用 选用 表明 显示 表示 证明 说明 发现 观察 提出 介绍 给出 设计 开发 纳入 招募 入组
    包含 包括 含有 拥有 具有 共有 共计 总共 组成 构成 由 需要 耗时 花费 花了 用时 耗费 受试者 被试 参与者 患者
    病人 数据集 语料库 数据 方法 方案 算法 策略 研究 本文 论文 本研究 作者 我们 进行 开展 实施 取得 达到 获得
    得到 实现 设为 设置 设定 约为 大约 左右 平均 评估 评价 测试 测量 计算 估计 主要 重要 关键 因为 由于 因此
    结构 架构 框架 中 里 内 上 一共 总计 合计 共 带来 差异 差别 区别 每日 每天 日均 面积 题目 统计学意义 对照
    表现 结果 情况 水平 程度 过程 方面 其中 分别 以及 此外 另外 同时 均 皆 都 则 便 即 就 仍 仍然 已 已经 曾 曾经 正在 目前 现有
    现有的 上述 该 本 此 各 每 某 某些 一 有 个 张 台 件 条 出现 发生 呈现 呈 具备 占据 占 为 是 系 属于 称为 叫做 名为 选取 选择 挑选 抽取 收集 采集 搜集
    建立 构建 搭建 创建 提供 给予 给 执行 运行 持续 历时 回收 回答 填写 作答 完成 服用 给药 使 令 让 后
    时 期间 随 随着 因 因而 故 从而 进而 并 且 而 但 与 和 及 或 对 对于 关于 于 在 研究人员 研究者 访谈 开展 实验 试验 导致 引起 造成 影响 作用 效果 认为 指出 报告 报道 完成 通过 借助 基于 根据 依据 依赖
""")
"""Han words of study and measurement whose exchange for one another says nothing new."""

SYMMETRIC = words("""
    associated association correlated correlate correlates correlation correlates linked related
    similar similarly same equal equals equivalent differ differs different difference between both
    versus vs compared comparable interact interacts interaction independent 相关 关联 相同 相似 相等
    不同 差异 之间 相互 互相 比较
""")
"""Words of a statement that is as true of the second thing as of the first."""
MIRRORED = words("by of with when due because through via from 被 由 因 受")
"""Words that turn subject and object round."""
