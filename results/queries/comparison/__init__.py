"""One metric over one dimension, a series for each value of another: cells, replicates, verdicts, citations."""
