"""``autograder bench``: the figures of the README, measured again on this machine."""
