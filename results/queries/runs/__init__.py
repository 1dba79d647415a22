"""Runs, plans and trials: lists, one with everything that it holds, what they wait for, how long they will take."""
