"""The passes of `nldd.linear._passes` in plain numba, whose compiler looks for vectors itself."""

import numpy as np
from numba import njit

OPTIONS = {"nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract"}}


@njit(**OPTIONS)
def add_products(columns, values, W, z):
    """Add values times rows of W to z; four at a time, so that z is read and written less often."""
    n = len(columns) - len(columns) % 4
    for k in range(0, n, 4):
        x0, x1, x2, x3 = values[k], values[k + 1], values[k + 2], values[k + 3]
        w0, w1, w2, w3 = W[columns[k]], W[columns[k + 1]], W[columns[k + 2]], W[columns[k + 3]]
        for lane in range(len(z)):
            z[lane] += (x0 * w0[lane] + x1 * w1[lane]) + (x2 * w2[lane] + x3 * w3[lane])
    for k in range(n, len(columns)):
        x0, w0 = values[k], W[columns[k]]
        for lane in range(len(z)):
            z[lane] += x0 * w0[lane]


@njit(**OPTIONS)
def sparse_slopes(starts, columns, values, Y, weight, C, W, D, G, M):
    last, z, t = len(W) - 1, np.empty_like(W[0]), np.empty_like(W[0])
    for i in range(len(starts) - 1):
        row = slice(starts[i], starts[i + 1])
        z[:] = W[last]
        add_products(columns[row], values[row], W, z)
        for lane in range(len(z)):
            p = 1 / (1 + np.exp(-z[lane]))
            cost = weight[i] * (C[0, lane] + (C[1, lane] - C[0, lane]) * Y[i, lane])
            t[lane], D[i, lane] = cost * (p - Y[i, lane]), cost * p * (1 - p)
            G[last, lane] += t[lane]
            M[last, lane] += D[i, lane]
        for k in range(starts[i], starts[i + 1]):
            x, g, m, c = np.float64(values[k]), G[columns[k]], M[columns[k]], D[i]
            for lane in range(len(z)):
                g[lane] += x * t[lane]
            for lane in range(len(z)):
                m[lane] += x * x * c[lane]


@njit(**OPTIONS)
def sparse_curvatures(starts, columns, values, D, labels, S, Q):
    last, z = len(S) - 1, np.empty_like(S[0])
    for i in range(len(starts) - 1):
        row = slice(starts[i], starts[i + 1])
        z[:] = S[last]
        add_products(columns[row], values[row], S, z)
        for lane in range(len(z)):
            z[lane] *= D[i, labels[lane]]
            Q[last, lane] += z[lane]
        for k in range(starts[i], starts[i + 1]):
            x, q = values[k], Q[columns[k]]
            for lane in range(len(z)):
                q[lane] += x * z[lane]
