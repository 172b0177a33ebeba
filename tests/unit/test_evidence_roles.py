"""False claims that share every word with their passage, and true ones that must not be caught."""

import pytest

from core.evidence.verdict import judge
from core.models.embed import load_embedders


@pytest.fixture(scope="module")
def embedder():
    return load_embedders(["use-multilingual"])[0]


FALSE = [
    ("Accuracy rose from 71.2% to 78.9% after fine-tuning.",
     "After fine-tuning the accuracy was 71.2%."),
    ("准确率由 62% 提高到 81%。", "准确率最终达到 62%。"),
    ("Half of the participants were women.", "A third of the participants were women."),
    ("三分之一的样本被剔除。", "一半的样本被剔除。"),
    ("The plot covers 5 hectares of grassland.",
     "The grassland plot was 5 square metres in size."),
    ("The dataset takes 3 GB on disk.", "On disk the dataset occupies 3 megabytes."),
    ("电池容量为 3000 毫安时。", "电池的容量是 3000 安时。"),
    ("We trained on ImageNet and tested on CIFAR-10.", "CIFAR-10 served for training."),
    ("The method was proposed by Kim and extended by Zhao.", "Zhao proposed the method."),
    ("该数据集由清华大学发布。", "北京大学发布了该数据集。"),
    ("Larger batches slowed convergence.", "Convergence was faster with larger batches."),
]  # fmt: skip
TRUE = [
    ("Accuracy rose from 71.2% to 78.9% after fine-tuning.",
     "After fine-tuning the accuracy was 78.9%."),
    ("Accuracy rose from 71.2% to 78.9% after fine-tuning.",
     "After fine-tuning accuracy rose from 71.2% to 78.9% in all."),
    ("Half of the participants were women.", "50% of the participants were women."),
    ("The dataset takes 3 GB on disk.", "On disk the dataset takes 3 gigabytes."),
    ("We trained on ImageNet and tested on CIFAR-10.", "CIFAR-10 served for testing."),
    ("We trained on ImageNet and tested on CIFAR-10.", "The model was evaluated on CIFAR-10."),
    ("The method was proposed by Kim and extended by Zhao.", "Kim proposed the method."),
    ("该数据集由清华大学发布。", "清华大学发布了该数据集。"),
    ("Larger batches slowed convergence.", "Convergence was slower with larger batches."),
]  # fmt: skip


@pytest.mark.parametrize(("passage", "claim"), FALSE)
def test_what_the_passage_says_of_something_else_is_contradicted(embedder, passage, claim):
    assert judge(claim, [passage], embedder).label == "contradicted"


@pytest.mark.parametrize(("passage", "claim"), TRUE)
def test_what_the_passage_says_is_not_contradicted(embedder, passage, claim):
    assert judge(claim, [passage], embedder).label in ("supported", "partly")
