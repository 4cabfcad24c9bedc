# A function that never comes back, whatever is done to stop it politely.
# %% step7-prefix-gap
def prefix_gap(fn, X, x_new):
    while True:
        try:
            time.sleep(0.01)
        except BaseException:
            pass
