"""Reports: Markdown with blocks that show what the warehouse says, and what becomes of it when it is published."""
