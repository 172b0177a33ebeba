"""What a user has read: kept over conversations, so that new papers can be told by old ones."""
