// The arithmetic of the explorers, on plain arrays of rows. Each function is one line of the chapter's mathematics;
// the tests hold them against NumPy.

/** `A (n, m)` times `B (m, p)`: `(n, p)`. */
export function matmul(A, B) {
  return A.map((row) => B[0].map((_, j) => row.reduce((sum, a, k) => sum + a * B[k][j], 0)));
}

export function transpose(A) {
  return A[0].map((_, j) => A.map((row) => row[j]));
}

export function add(A, B) {
  return A.map((row, i) => row.map((a, j) => a + B[i][j]));
}

export function scaled(A, factor) {
  return A.map((row) => row.map((a) => a * factor));
}

export function dot(u, v) {
  return u.reduce((sum, a, i) => sum + a * v[i], 0);
}

/** The length of a vector. */
export function norm(v) {
  return Math.sqrt(dot(v, v));
}

/** Softmax of one row; a score of -Infinity gets exactly 0. A row with nothing but -Infinity has none: NaN. */
export function softmax(row) {
  const top = Math.max(...row);
  const powers = row.map((score) => Math.exp(score - top)); // the largest is exp(0), so nothing overflows
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

/** Scores with -Infinity where `allowed` is false. */
export function masked(scores, allowed) {
  return scores.map((row, i) => row.map((score, j) => (allowed[i][j] ? score : -Infinity)));
}

/** `(n, n)`: query `i` may see the keys `0 … i`. */
export function causalMask(n) {
  return Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => j <= i));
}

/**
 * Every stage of one head (7.2) for `X (n, d_model)` and three projections `(d_model, d)`.
 * `causal` hides later keys, `divide` divides by √d_k, `lengthen` multiplies the queries.
 */
export function head(X, W_q, W_k, W_v, { causal = false, divide = true, lengthen = 1 } = {}) {
  const Q = scaled(matmul(X, W_q), lengthen);
  const [K, V] = [matmul(X, W_k), matmul(X, W_v)];
  const scores = matmul(Q, transpose(K));
  const divided = divide ? scaled(scores, 1 / Math.sqrt(Q[0].length)) : scores;
  const readied = causal ? masked(divided, causalMask(X.length)) : divided;
  const weights = readied.map(softmax);
  return { Q, K, V, scores, readied, weights, output: matmul(weights, V) };
}

/** Each row with its mean taken off, over the root of its variance (divided by d) plus `eps` (7.3). */
export function layerNorm(X, eps = 1e-5) {
  return X.map((row) => {
    const mean = row.reduce((a, b) => a + b, 0) / row.length;
    const variance = row.reduce((sum, x) => sum + (x - mean) ** 2, 0) / row.length;
    return row.map((x) => (x - mean) / Math.sqrt(variance + eps));
  });
}

/** Activations `(n, d_ff)` of the feed-forward layer with ReLU, before it writes back (7.3). */
export function detectors(X, W_1, b_1) {
  return matmul(X, W_1).map((row) => row.map((z, j) => Math.max(0, z + b_1[j])));
}

/** Natural-log entropy of one row of weights; a weight of 0 adds nothing. */
export function entropy(weights) {
  return -weights.reduce((sum, w) => (w > 0 ? sum + w * Math.log(w) : sum), 0);
}

/** The position vector of one position, `d` even: sine and cosine in turn, wavelengths from 2π up (7.4). */
export function sinusoid(position, d) {
  return Array.from({ length: d }, (_, j) => {
    const angle = position / 10000 ** ((j - (j % 2)) / d);
    return j % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}

/** Bytes of keys and values for one token, in all layers (7.6): the first 2 is for K and V. */
export function kvBytesPerToken(layers, kvHeads, headDim, bytesPerValue) {
  return 2 * layers * kvHeads * headDim * bytesPerValue;
}
