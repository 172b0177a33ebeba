"""What an agent or a page asks the world for: one envelope, one registry, one file a tool."""
