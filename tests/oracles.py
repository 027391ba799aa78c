"Slow and literal: the paper's block matrices, for tests to compare with."

import numpy as np


def naive_gram(k, A, B):
    "k of every pair, one pair at a time"
    return np.array([[k(a[None], b[None])[0, 0] for b in B] for a in A])


def naive_G(kernel, X, Y, P):
    """The signed block Gram matrix [[K(x,x), -K(x,y)], [-K(y,x), K(y,y)]] of shape
    (dN, dN)"""

    def block(A, B):
        return np.block(
            [[k_ab * P for k_ab in row] for row in naive_gram(kernel, A, B)]
        )

    return np.block([[block(X, X), -block(X, Y)], [-block(Y, X), block(Y, Y)]])


def naive_A(kernel, X, Y, P):
    """A_ij = [K_{x_i}(x^n) - K_{y_j}(x^n), K_{y_j}(y^m) - K_{x_i}(y^m)], as an array
    (n, m, d, dN)"""

    def row(z, points):
        return np.hstack([k_zp * P for k_zp in naive_gram(kernel, z[None], points)[0]])

    return np.array(
        [
            [np.hstack([row(x, X) - row(y, X), row(y, Y) - row(x, Y)]) for y in Y]
            for x in X
        ]
    )


def naive_U(G):
    "U with U U^T = G^{-1}: the transposed inverse of the Cholesky factor of G"
    return np.linalg.inv(np.linalg.cholesky(G)).T


def naive_cost(A, U, s):
    "c_ij = |A_ij U s|^2"
    n, m = A.shape[:2]
    return np.array(
        [[np.sum((A[i, j] @ U @ s) ** 2) for j in range(m)] for i in range(n)]
    )


def naive_plan(u, v, s, A, U, eta):
    "pi_ij = exp(-c_ij / eta + u_i + v_j)"
    return np.exp(-naive_cost(A, U, s) / eta + u[:, None] + v)


def naive_V(pi, A):
    "V = sum_ij pi_ij A_ij^T A_ij, of shape (dN, dN)"
    n, m = pi.shape
    return sum(pi[i, j] * A[i, j].T @ A[i, j] for i in range(n) for j in range(m))
