"""What a trial measured: metrics, series, histograms, plans of queries, call stacks."""
