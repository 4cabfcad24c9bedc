# With the cache, every id after the prompt is fed at the position before its own.
# %% step8-generate
def generate(model, prompt, n_new, *, use_cache):
    tokens, logits = list(prompt), []
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    done = 0
    for _ in range(n_new):
        start = max(done - 1, 0) if use_cache else 0
        row = model(tokens[done:], caches=caches, start=start)[-1]
        logits.append(row)
        done = len(tokens) if use_cache else 0
        tokens.append(int(np.argmax(row)))
    return tokens, np.array(logits)
