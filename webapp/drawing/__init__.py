"""Figures drawn on the server: the same dictionaries that Plotly draws in the browser, as SVG, PNG or PDF. Pure."""
