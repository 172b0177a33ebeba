"""One file per step of the graph."""
