"""Terms of research papers in both languages, so that a question can share words with a paper."""

from core.evidence.facts import content

PAIRS = tuple(
    (line.partition("=")[0], line.partition("=")[2])
    for line in """\
优化器=optimizer
学习率=learning rate
预热=warmup
批大小=batch size
批量大小=batch size
编码器=encoder
解码器=decoder
注意力=attention
注意力头=attention heads
多头=multi-head
自注意力=self-attention
隐藏层=hidden layer
前馈=feed-forward
嵌入=embedding
词表=vocabulary
位置编码=positional encoding
丢弃率=dropout rate
正则化=regularization
标签平滑=label smoothing
激活函数=activation function
损失函数=loss function
超参数=hyperparameters
参数=parameters
维度=dimension
维=dimension
几层=layers
多少层=layers
层数=number of layers
卷积=convolution
循环神经网络=recurrent neural network
神经网络=neural network
预训练=pre-training
微调=fine-tuning
训练=training
训练集=training set
验证集=development validation set
测试集=test set
数据集=dataset
语料=corpus
基准=benchmark
基线=baseline
消融=ablation
实验=experiment
准确率=accuracy
精确率=precision
召回率=recall
误差=error
句法分析=parsing
机器翻译=machine translation
翻译=translation
束搜索=beam search
检索=retrieval
检索器=retriever
问答=question answering
段落=passage
文档=document
摘要=abstract summary
分类=classification
聚类=clustering
生成=generation
推理=inference reasoning
图像=image
语音=speech
表格=table
负样本=negative examples
正样本=positive examples
采样=sampling
温度=temperature
压力=pressure
密度=density
速度=speed
内存=memory
显卡=GPU
缓存=cache
窗口=window
步数=steps
模型=model
算法=algorithm
样本=sample
患者=patients
病人=patients
剂量=dose
分子=molecule
蛋白质=protein
细胞=cell
基因=gene
局限=limitations
贡献=contribution
资助=funded supported
""".splitlines()
)
"""A Chinese term and its English one each."""


def translated(question: str) -> frozenset[str]:
    """Return stems, in the other language, of the terms of `question` that the glossary has."""
    folded = question.casefold()
    have = content(folded)
    found: set[str] = set()
    for chinese, english in PAIRS:
        stems = content(english)
        if chinese in folded:
            found |= stems
        elif stems and stems <= have:
            found |= content(chinese)
    return frozenset(found)
