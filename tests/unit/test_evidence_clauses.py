"""What one clause says is not said of another: claims whose words are all in the passage."""

import pytest

from core.evidence.verdict import judge
from core.models.embed import load_embedders


@pytest.fixture(scope="module")
def embedder():
    return load_embedders(["use-multilingual"])[0]


RECALL = "Recall was 0.71 on letters and 0.58 on diaries."
DRUGS = "Aspirin shortened the fever by a day, whereas quinine had no effect on its length."
FIRMS = "Of 640 firms invited, 415 completed the form, a rate of 65%."
DELAY = "Without the buffer, writes suffered a 40% delay and a 15% loss of throughput."
TREES = "The stand held 61% oak, 27% beech and 12% ash."
RIVERS = "枯水期水位由3.2米降至1.9米，丰水期水位基本不变。"
SCORES = "甲、乙、丙三个班的平均分分别为82、76、69。"
BIRDS = "迁徙距离与体重呈正相关，与翼长呈负相关。"
SOIL = "土壤越湿，种子在前期萌发越多；土壤越干，种子在后期萌发越多。"
FALSE = [
    (RECALL, "On diaries recall was 0.71."),
    (DRUGS, "Quinine shortened the fever by a day."),
    (FIRMS, "640 firms completed the form."),
    (DELAY, "Without the buffer, writes suffered a 15% delay."),
    (DELAY, "With the buffer, writes suffered a 40% delay."),
    (TREES, "The stand held 12% beech."),
    ("The patch lowers memory use as well as raising speed.", "The patch raises memory use."),
    ("Model-A2 is needed for parsing; we show that Model-B7 is not.", "Model-B7 is needed."),
    ("The cue was given daily for a month.", "The cue was given weekly for a month."),
    ("It was a double-blind trial in two towns.", "It was a single-blind trial in two towns."),
    ("The tagger improves all four corpora.", "The tagger improves only one of the corpora."),
    ("The rule holds only for verbs.", "The rule holds for nouns and verbs."),
    ("Unlike zinc, copper did not slow the growth.", "Zinc did not slow the growth."),
    ("Only two of the eleven judges agreed.", "Most judges agreed."),
    ("Few archives allow photographs.", "Many archives allow photographs."),
    ("At least 20 leaves were picked.", "At most 20 leaves were picked."),
    ("The two tools are on a par in speed.", "The first tool is superior to the second in speed."),
    ("The list grew to 9,100 words, up from 7,400.", "The list has 7,400 words."),
    ("A and B were scored 3.1 and 4.6, respectively.", "B was scored 3.1."),
    ("The encoder works without any labels.", "The encoder works with labels only."),
    ("In the end 17 of the 52 pumps worked.", "52 pumps worked in the end."),
    ("The lexer uses a table; the parser, a stack.", "The parser uses a table."),
    ("Rain harmed the barley but helped the oats.", "Rain helped the barley."),
    ("The fault hits a small fraction of the trains.", "Most trains are hit by the fault."),
    ("Experts outscore the tool on rare words.", "The tool outscores experts on rare words."),
    (RIVERS, "丰水期水位降至1.9米。"),
    (SCORES, "乙班的平均分为82。"),
    (BIRDS, "迁徙距离与翼长呈正相关。"),
    (SOIL, "土壤越干，种子在前期萌发越多。"),
    ("问卷发给130名护士，共收集210条意见。", "问卷发给210名护士。"),
    ("标注由历史系完成，校对由中文系完成。", "校对由历史系完成。"),
    ("晚间的流量是早间的三倍。", "晚间的流量低于早间。"),
    ("仅在城区发现了该物种。", "所有地区，包括城区和郊区，都发现了该物种。"),
    ("该镇人均年收入为3万元。", "该镇人均月收入为3万元。"),
    ("The valve caused a 30% delay.", "该阀门使延迟缩短了30%。"),
]  # fmt: skip
TRUE = [
    (RECALL, "On diaries recall was 0.58."),
    (DRUGS, "Aspirin shortened the fever by a day."),
    (FIRMS, "415 firms completed the form."),
    (DELAY, "Without the buffer, writes suffered a 40% delay."),
    (TREES, "The stand held 27% beech."),
    ("The patch lowers memory use as well as raising speed.", "The patch lowers memory use."),
    ("Unlike zinc, copper did not slow the growth.", "Copper did not slow the growth."),
    ("Only two of the eleven judges agreed.", "Two judges agreed."),
    ("At least 20 leaves were picked.", "No fewer than 20 leaves were picked."),
    ("The list grew to 9,100 words, up from 7,400.", "The list has 9,100 words."),
    ("A and B were scored 3.1 and 4.6, respectively.", "B was scored 4.6."),
    ("We fine-tune the small model and keep the large model as it is.",
     "The large model is kept as it is."),
    ("Rain harmed the barley but helped the oats.", "Rain helped the oats."),
    ("In the end 17 of the 52 pumps worked.", "17 pumps worked in the end."),
    (RIVERS, "枯水期水位降至1.9米。"),
    (SCORES, "乙班的平均分为76。"),
    (BIRDS, "迁徙距离与体重呈正相关。"),
    (SOIL, "土壤越干，种子在后期萌发越多。"),
    ("标注由历史系完成，校对由中文系完成。", "校对由中文系完成。"),
    ("晚间的流量是早间的三倍。", "晚间的流量高于早间。"),
    ("问卷发给130名护士，共收集210条意见。", "共收集意见210条。"),
]  # fmt: skip


@pytest.mark.parametrize(("passage", "claim"), FALSE)
def test_what_is_said_of_something_else_is_not_supported(embedder, passage, claim):
    assert judge(claim, [passage], embedder).label != "supported"


@pytest.mark.parametrize(("passage", "claim"), TRUE)
def test_what_is_said_is_supported(embedder, passage, claim):
    verdict = judge(claim, [passage], embedder)
    assert verdict.label == "supported", verdict.reason
