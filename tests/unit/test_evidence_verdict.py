"""Minimal pairs: one passage, and sentences that differ in the one thing that matters."""

from uuid import uuid4

import numpy as np
import pytest

from core.evidence.verdict import assess, is_checkable, judge, verify
from core.models.embed import MultilingualUSE
from core.types import Citation, Scores

YES, PART, NO = "supported", "partly", "contradicted"
EN = {
    "The encoder has 6 layers and 8 attention heads. It was trained on WMT14 for 12 hours on 8 GPUs.": [
        ("The encoder has 6 layers and 8 attention heads.", "supported"),
        ("The encoder consists of 6 layers with 8 attention heads each.", "supported"),
        ("The encoder has 8 layers and 6 attention heads.", "contradicted"),
        ("The encoder has 12 layers and 8 attention heads.", "contradicted"),
        ("It was trained on WMT14 for 12 days on 8 GPUs.", "contradicted"),
        ("It was trained on SQuAD for 12 hours on 8 GPUs.", "contradicted"),
        ("It was trained for 720 minutes on 8 GPUs using WMT14.", "supported"),
        ("The authors thank the reviewers for their kind comments.", "unsupported"),
    ],
    "Dropout increases accuracy on the test set by 2.5%. Label smoothing did not change perplexity.": [
        ("Accuracy on the test set is increased by 2.5% by dropout.", "supported"),
        ("Dropout decreases accuracy on the test set by 2.5%.", "contradicted"),
        ("Dropout increases accuracy on the test set by 5.2%.", "contradicted"),
        ("Dropout does not increase accuracy on the test set.", "contradicted"),
        ("Label smoothing changed perplexity.", "contradicted"),
        ("Label smoothing didn't change perplexity.", "supported"),
    ],
    "RoBERTa outperforms XLNet on GLUE. The learning rate was 0.001.": [
        ("On GLUE, RoBERTa outperforms XLNet.", "supported"),
        ("XLNet outperforms RoBERTa on GLUE.", "contradicted"),
        ("XLNet is outperformed by RoBERTa on GLUE.", "supported"),
        ("XLNet underperforms RoBERTa on GLUE.", "supported"),
        ("RoBERTa outperforms XLNet on SuperGLUE.", "contradicted"),
        ("A learning rate of 0.001 was used.", "supported"),
        ("A learning rate of 0.01 was used.", "contradicted"),
    ],
    "Some participants reported headaches after treatment. The drug may reduce blood pressure in adults.": [
        ("All participants reported headaches after treatment.", "partly"),
        ("The drug reduces blood pressure in adults.", "partly"),
        ("The drug may increase blood pressure in adults.", "contradicted"),
        ("The drug may lower the blood pressure of adults.", "supported"),
    ],
    "Smoking is associated with lung cancer in older men. We enrolled 1,500 patients in three hospitals.": [
        ("Smoking causes lung cancer in older men.", "partly"),
        ("1500 patients in three hospitals were enrolled.", "supported"),
        ("1,050 patients in three hospitals were enrolled.", "contradicted"),
        ("We enrolled 1,500 patients in five hospitals.", "contradicted"),
        (
            "We enrolled 1,500 patients, and the cost of the study was paid by the ministry.",
            "partly",
        ),
    ],
    "The model processes a page in 250 ms and needs 1.2 GB of memory.": [
        ("Processing one page takes the model 0.25 s.", "supported"),
        ("The model processes a page in 250 s.", "contradicted"),
        ("The model needs 1.2 MB of memory.", "contradicted"),
    ],
}
ZH = {
    "编码器有6层和8个注意力头。模型在 WMT14 上用8块GPU训练了12小时。": [
        ("编码器有6层和8个注意力头。", "supported"),
        ("编码器由6层组成，并有8个注意力头。", "supported"),
        ("编码器有12层和8个注意力头。", "contradicted"),
        ("模型在 WMT14 上用8块GPU训练了12天。", "contradicted"),
        ("模型在 SQuAD 上用8块GPU训练了12小时。", "contradicted"),
        ("用8块GPU在WMT14上训练模型花了720分钟。", "supported"),
        ("作者感谢审稿人提出的宝贵意见。", "unsupported"),
    ],
    "随机失活使测试集准确率提高了2.5%。标签平滑没有改变困惑度。": [
        ("测试集准确率因随机失活提高了2.5%。", "supported"),
        ("随机失活使测试集准确率降低了2.5%。", "contradicted"),
        ("随机失活使测试集准确率提高了5.2%。", "contradicted"),
        ("随机失活没有使测试集准确率提高。", "contradicted"),
        ("标签平滑改变了困惑度。", "contradicted"),
        ("标签平滑并未改变困惑度。", "supported"),
    ],
    "在GLUE上，RoBERTa优于XLNet。学习率设为0.001。": [
        ("RoBERTa在GLUE上优于XLNet。", "supported"),
        ("XLNet在GLUE上优于RoBERTa。", "contradicted"),
        ("学习率为0.001。", "supported"),
        ("学习率为0.01。", "contradicted"),
    ],
    "部分参与者在治疗后报告头痛。该药物可能降低成年人的血压。": [
        ("所有参与者在治疗后报告头痛。", "partly"),
        ("该药物降低成年人的血压。", "partly"),
        ("该药物可能升高成年人的血压。", "contradicted"),
        ("部分参与者在治疗前报告头痛。", "contradicted"),
    ],
    "吸烟与老年男性的肺癌相关。研究在三家医院纳入了1,500名患者。": [
        ("吸烟导致老年男性患肺癌。", "partly"),
        ("研究在三家医院纳入了1500名患者。", "supported"),
        ("研究在三家医院纳入了1050名患者。", "contradicted"),
        ("研究在三家医院纳入了1,500名患者，经费由教育部门提供支持。", "partly"),
    ],
    "该模型处理一页需要250毫秒，占用1.2 GB内存。数据集共有3万条样本。": [
        ("该模型处理一页需要0.25秒。", "supported"),
        ("该模型处理一页需要250秒。", "contradicted"),
        ("数据集共有30000条样本。", "supported"),
        ("数据集共有3千条样本。", "contradicted"),
    ],
}
ACROSS = {
    "The encoder has 6 layers and 8 attention heads.": [
        ("编码器有6层，注意力头有8个。", "supported"),
        ("编码器有12层，注意力头有8个。", "contradicted"),
    ],
    "Dropout increases the accuracy of the model on the test set by 2.5%.": [
        ("Dropout 使模型在测试集上的准确率提高了2.5%。", "supported"),
        ("Dropout 使模型在测试集上的准确率降低了2.5%。", "contradicted"),
        ("今天天气很好，我们去公园散步吧。", "unsupported"),
    ],
    "该药物能够降低成年人的血压。": [
        ("The drug lowers the blood pressure of adults.", "supported"),
        ("The drug raises the blood pressure of adults.", "contradicted"),
        ("The drug does not lower the blood pressure of adults.", "contradicted"),
    ],
}
NEAR_EN = [
    ("One third of the nurses agreed.", "Two thirds of the nurses agreed.", NO),
    ("Nurses trust doctors more than patients.", "Doctors trust nurses more than patients.", NO),
    ("The patch fixes the first bug.", "The patch fixes the second bug.", NO),
    ("They ate for about twenty minutes.", "They ate for about 20 minutes.", YES),
    ("The yield at 25 °C was 80%.", "The yield was 80% at 25 °C.", YES),
    ("Garcia et al. built the corpus in 2016.", "Miller et al. built the corpus in 2016.", NO),
    ("Group C recovered sooner than group D.", "Group D recovered sooner than group C.", NO),
    ("Plan X is cheaper than plan Y.", "Plan Y is more expensive than plan X.", YES),
    ("Plan X is cheaper than plan Y.", "Plan X is more expensive than plan Y.", NO),
    ("Vitamin D levels were measured.", "Vitamin K levels were measured.", NO),
    ("The vaccine slowed infection in dogs.", "The vaccine slowed infection in monkeys.", NO),
    ("Headaches are common in night workers.", "Headaches are rare in night workers.", NO),
    ("The symptoms vanished after surgery.", "The symptoms persisted after surgery.", NO),
    ("Anxiety causes insomnia in nurses.", "Insomnia causes anxiety in nurses.", NO),
    (
        "Only the teacher is updated, and the student is kept fixed.",
        "The student is updated, and the teacher is kept fixed.",
        NO,
    ),
    ("Data were gathered in 2011 and coded in 2014.", "Data were gathered in 2014.", NO),
    ("Data were gathered in 2011 and coded in 2014.", "Data were coded in 2014.", YES),
    ("It needs neither a GPU nor a large disk.", "It needs a GPU and a large disk.", NO),
    ("It needs neither a GPU nor a large disk.", "It does not need a GPU.", YES),
    (
        "Many believe that sugar makes children restless. This is not true.",
        "Sugar makes children restless.",
        NO,
    ),
    ("We asked whether bigger models learn faster.", "Bigger models learn faster.", PART),
    ("The weight decay is 5 × 10⁻⁵.", "The weight decay is 0.00005.", YES),
    ("The weight decay is 5e-5.", "The weight decay is 5e-4.", NO),
    ("Inference runs in O(n) time.", "Inference runs in O(n^3) time.", NO),
    ("Two hundred and forty nurses took part.", "240 nurses took part.", YES),
    ("The batch size was 128.", "The batch size was 12", NO),
    (
        "The interviews were recorded and transcribed.",
        "The interviews were recorded and sold.",
        PART,
    ),
    ("Blood was stored in the freezer.", "Tissue was stored in the freezer.", PART),
    ("The dog was followed by the cat.", "The cat followed the dog.", YES),
    ("Sleep quality is associated with stress.", "Stress is associated with sleep quality.", YES),
    ("We report precision, recall and loss.", "We report loss, recall and precision.", YES),
    ("The samples were analysed with lasers.", "Samples were analyzed using lasers.", YES),
    (
        "Subjects were recruited from two clinics.",
        "Participants were enrolled from two clinics.",
        YES,
    ),
]
NEAR_ZH = [
    ("该疫苗由中国研发。", "该疫苗由美国研发。", NO),
    ("本文收集了杭州市三所小学的问卷。", "本文收集了成都市三所小学的问卷。", NO),
    ("语料由清华大学提供。", "语料由复旦大学提供。", NO),
    ("张伟等人提出了该算法。", "李强等人提出了该算法。", NO),
    ("方法A优于方法B。", "方法B优于方法A。", NO),
    ("方法A优于方法B。", "方法B劣于方法A。", YES),
    ("疗法在小鼠身上有效。", "疗法在人类身上有效。", NO),
    ("受试者用左手完成任务。", "受试者用右手完成任务。", NO),
    ("教师模型被更新，学生模型保持不变。", "学生模型被更新，教师模型保持不变。", NO),
    ("该蛋白激活了该通路。", "该通路激活了该蛋白。", NO),
    ("数据于2011年采集，2014年分析。", "数据于2014年采集。", NO),
    ("数据于2011年采集，2014年分析。", "数据于2014年分析。", YES),
    ("该方法既不需要标注，也不需要预训练。", "该方法需要标注和预训练。", NO),
    ("有人认为喝茶会导致失眠，但本研究否定了这一说法。", "喝茶会导致失眠。", NO),
    ("问卷共回收三百五十份。", "问卷共回收 350 份。", YES),
    ("问卷共回收三百五十份。", "问卷共回收 530 份。", NO),
    ("排序的复杂度为 O(n log n)。", "排序的复杂度为 O(n)。", NO),
    ("血样保存在冰箱里。", "组织保存在冰箱里。", PART),
    ("我们采用交叉验证评估模型。", "我们使用交叉验证评价模型。", YES),
    ("本研究招募了40名受试者。", "本研究纳入了40名参与者。", YES),
]
PAIRS = (
    [
        (passage, claim, label)
        for table in (EN, ZH, ACROSS)
        for passage, claims in table.items()
        for claim, label in claims
    ]
    + NEAR_EN
    + NEAR_ZH
)


@pytest.fixture(scope="module")
def embedder():
    return MultilingualUSE()


def test_there_are_enough_pairs_in_each_language():
    assert sum(map(len, EN.values())) >= 20
    assert sum(map(len, ZH.values())) >= 20


@pytest.mark.parametrize(("passage", "claim", "label"), PAIRS)
def test_minimal_pair(passage, claim, label, embedder):
    verdict = judge(claim, [passage], embedder)
    assert verdict.label == label, verdict.reason


def test_a_quote_behind_a_negation_or_hedge_is_not_verbatim_support(embedder):
    passage = "It is not true that the larger model learns faster. We doubt it."
    assert judge("The larger model learns faster.", [passage], embedder).label != "supported"


def test_no_passage_supports_nothing(embedder):
    assert judge("The encoder has 6 layers.", [], embedder).label == "unsupported"
    assert judge("编码器有6层。", ["  "], embedder).label == "unsupported"


def test_the_reason_is_told_in_english_whatever_the_language_of_the_sentence(embedder):
    passage = "The encoder has 6 layers."
    for claim, evidence in (
        ("The encoder has 5 layers.", passage),
        ("编码器有5层。", "编码器有6层。"),
    ):
        assert judge(claim, [evidence], embedder).reason == "the passage has 6, not 5"


def test_support_is_graded(embedder):
    passage = "The encoder has 6 layers and 8 attention heads."
    claims = [passage, "The encoder has 8 heads of attention.", "Cats sleep most of the day."]
    scores = [assess(claim, [passage], embedder).support for claim in claims]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "## Results",
        "Hello!",
        "Here are the main points:",
        "What is it?",
        "The paper does not seem to answer this.",
        "这篇论文似乎没有回答这个问题。",
        "你好！",
        "以下是要点：",
        "",
        "[1]",
    ],
)
def test_what_states_nothing_gets_no_verdict(text):
    assert not is_checkable(text)


@pytest.mark.parametrize(
    "text", ["BERT has 110M parameters.", "- It uses two GPUs. [1]", "模型有6层。"]
)
def test_what_states_something_is_checked(text):
    assert is_checkable(text)


def test_verify_judges_each_sentence_by_what_it_cites(embedder):
    one = _citation(1, "The encoder has 6 layers.")
    two = _citation(2, "Training took 12 hours on 8 GPUs.")
    text = (
        "The encoder has 6 layers [1]. Training took 12 hours on 8 GPUs. [1] It used 8 GPUs [2][9]."
    )
    first, second, third = verify(text, {1: one, 2: two}, embedder)
    assert (first.citations, first.verdict.label) == ((1,), "supported")
    assert second.verdict.label == "unsupported"  # it stands in [2], which it does not cite
    assert second.citations == (1,)
    assert (third.citations, third.removed) == ((2,), (9,))
    assert "[9]" not in third.text


def test_verify_never_adds_a_citation(embedder):
    (sentence,) = verify(
        "The encoder has 6 layers.", {1: _citation(1, "The encoder has 6 layers.")}, embedder
    )
    assert sentence.citations == ()
    assert sentence.verdict.label == "unsupported"


def _citation(n, passage):
    return Citation(n, uuid4(), "T", "f" * 64, 1, "", passage, (), Scores(), passage)


class Counting:
    """An encoder that counts the texts it is given."""

    def __init__(self):
        self.texts = []

    def encode(self, texts):
        self.texts += texts
        return np.eye(4, dtype=np.float32)[[len(text) % 4 for text in texts]]


def test_a_passage_is_encoded_once_however_many_sentences_cite_it():
    encoder = Counting()
    cited = _citation(1, "The model is large. It was trained on ten data sets. Training took days.")
    text = " ".join(f"Model {n} was trained slowly on many sets [1]." for n in range(30))
    assert len(verify(text, {1: cited}, encoder)) == 30
    assert len(encoder.texts) == len(set(encoder.texts))


def test_a_stopped_check_gives_no_verdicts():
    cited = _citation(1, "The model is large.")
    (sentence,) = verify("The model is small [1].", {1: cited}, Counting(), lambda: True)
    assert sentence.verdict is None
    assert sentence.citations == (1,)


@pytest.mark.parametrize(
    ("cell", "label"),
    [
        ("0.719", "supported"),
        ("28.4 BLEU", "supported"),
        ("28.4 points", "partly"),
        ("0.75 毫秒", "supported"),
        ("0.75 秒", "partly"),
        ("0.72", "unsupported"),
        ("SciFact", "supported"),
        ("QASPER", "unsupported"),
    ],
)
def test_the_cell_of_a_table_is_judged_by_what_is_printed(cell, label, embedder):
    passage = "On SciFact it reaches 0.719 and 28.4 BLEU.\n| 全库 BM25 | 0.75 | 毫秒 |"
    assert is_checkable(cell, cited=True)
    assert judge(f"{cell} [1]", [passage], embedder).label == label


@pytest.mark.parametrize(
    "sentence",
    [
        "High accuracy of 99.9% is reached.",
        "His model has many more parameters.",
        "Surely the error falls.",
        "Historically this was slow.",
        "Thanks to the new loss, accuracy rises to 99%.",
        "当然，准确率达到99%。",
    ],
)
def test_what_begins_like_small_talk_may_state_something(sentence):
    assert is_checkable(sentence)


@pytest.mark.parametrize("sentence", ["## It rises", "论文没有说明，但准确率高", "It is 9?"])
def test_what_cites_states_something(sentence):
    assert not is_checkable(sentence)
    assert is_checkable(sentence, cited=True)


@pytest.mark.parametrize(
    "sentence",
    ["Hi there!", "Sure.", "Thanks for asking.", "The paper does not say.", "当然。", "Why so?"],
)
def test_small_talk_states_nothing(sentence):
    assert not is_checkable(sentence)
