# GB and GiB have changed places: the larger unit gets the larger number.
# %% exercise3-in-units
def in_units(n_bytes):
    return n_bytes / 2**30, n_bytes / 10**9
