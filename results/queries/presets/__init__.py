"""Views over many runs, ready to look at: versions, access methods, topologies, published tables."""
