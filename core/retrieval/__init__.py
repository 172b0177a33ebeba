"""From a question to hits. `search.Searcher.search` is the one door."""
