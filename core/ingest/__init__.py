"""From a file's bytes to a stored, searchable paper. Parsing runs in a process of its own."""
