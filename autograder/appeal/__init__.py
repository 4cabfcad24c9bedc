"""Answers to an appeal: the fault once more, on an input that may be shown, as a script that its author can run."""
