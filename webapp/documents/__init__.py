"""Documents of text, tables and figures, and the files that they become."""
