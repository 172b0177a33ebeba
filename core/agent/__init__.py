"""The LangGraph agent: intents, router, nodes, events, and the runner that owns a turn."""
