"""A comparison as people see it: its controls, its words, its table. Pure.

what was asked (state) → compare → controls, words, table → templates/comparison/
"""
