"""Models behind small protocols: embedders, the chat model, the reranker, the token budget."""
