"""A workload of the tests: how long counting the rows of a table takes."""
