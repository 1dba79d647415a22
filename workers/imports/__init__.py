"""Reading results that other programs measured: a module a program, each a function of its files' text."""
