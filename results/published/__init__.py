"""Figures that others published: the tables of their reports, as CSV files beside this module, and how they become runs
of the warehouse. Pure but for `load`, which writes them."""
