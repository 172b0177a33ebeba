"""Sentences, citation numbers, quotes on pages, and the verdict on every sentence."""
