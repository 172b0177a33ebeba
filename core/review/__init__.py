"""Literature reviews: from a topic to a text in which every number is a paper that was read."""
