"""Answers without a language model: sentences chosen from the paper, in its own words."""
