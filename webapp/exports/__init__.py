"""What leaves Teiten for a paper: files of a comparison, of its figures and of its rows."""
