"""Are the tests able to fail? Each mutant is one formula of the solver made wrong: a
lost factor two, a turned sign, n and m exchanged. It is applied to a copy of the
package, and the judge below, a few small checks against formulas written out, must find
it guilty.

`pytest --slow` runs all mutants. Without it, two things are tested: that the judge
acquits the package as it is, and that the text of every mutant still stands in it
exactly once."""

import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import kpw_nb

PACKAGE = Path(kpw_nb.__file__).parent

# --- what is made wrong: (module of theory, as it is, as it must not be) ------------

MUTANTS = [
    # kernels: profiles, slopes, distances, bandwidth, output matrix
    (
        "kernels",
        "np.exp(-D2 / (2 * self.bandwidth**2))",
        "np.exp(-D2 / self.bandwidth**2)",
    ),
    (
        "kernels",
        "-self.profile(D2) / self.bandwidth**2",
        "-self.profile(D2) / self.bandwidth",
    ),
    ("kernels", "np.sqrt(2 * self.nu * D2)", "np.sqrt(self.nu * D2)"),
    ("kernels", "1.0 + t + t * t / 3}", "1.0 + t + t * t / 2}"),
    ("kernels", "else (1.0 + t) / 3", "else (1.0 + t) / 2"),
    (
        "kernels",
        "return -2 * self.nu / self.bandwidth**2",
        "return -self.nu / self.bandwidth**2",
    ),
    ("kernels", "np.sign(a - B)", "np.sign(B - a)"),
    ("kernels", "slope = self.degree * self._power", "slope = self._power"),
    ("kernels", "self.degree - 1)", "self.degree)"),
    ("kernels", "inner *= 2\n", "inner *= 1\n"),
    ("kernels", "close = D2[i, j] < 1e-6", "close = D2[i, j] < 1e-18"),
    ("kernels", "distances[distances > 0]", "distances[distances >= 0]"),
    ("kernels", "(1 - rho) * np.ones((d, d))", "rho * np.ones((d, d))"),
    (
        "kernels",
        "Q[:, keep] * np.sqrt(eigenvalues[keep])",
        "Q[:, keep] * eigenvalues[keep]",
    ),
    # representer: features, ridge, variance, low rank
    (
        "representer",
        "return _Basis(Q * root, Q / root",
        "return _Basis(Q * root, Q * root",
    ),
    ("representer", "basis.kappa + ridge * basis.kappa[0]", "basis.kappa + ridge"),
    ("representer", "damping = np.sqrt(basis.kappa", "damping = (basis.kappa"),
    (
        "representer",
        "- rows[:step].T @ rows[:step, i]",
        "+ rows[:step].T @ rows[:step, i]",
    ),
    ("representer", "residual - rows[step] ** 2", "residual - rows[step]"),
    ("representer", "phi[points[:rank]] -= shift *", "phi[points[:rank]] += shift *"),
    ("representer", "dtrtri(L[:rank], lower=1)[0].T", "dtrtri(L[:rank], lower=1)[0]"),
    (
        "representer",
        "return dtrtri(self.factor, lower=1)[0].T",
        "return dtrtri(self.factor, lower=1)[0]",
    ),
    (
        "representer",
        "np.maximum(variance, 0.0) + ridge * top",
        "np.maximum(variance, 0.0)",
    ),
    ("representer", "centred = phi - phi.mean(0)", "centred = phi"),
    ("representer", "restored[order] = phi * signs", "restored[:] = phi * signs"),
    ("representer", 'self.dual, S, trans="T", lower=True', "self.dual, S, lower=True"),
    # line: units, masses, powers
    (
        "line",
        "np.full(n, float(m // g)), np.full(m, float(n // g))",
        "np.full(n, float(n // g)), np.full(m, float(m // g))",
    ),
    (
        "line",
        "return Atoms(rows, cols, ends - start)",
        "return Atoms(rows, cols, ends)",
    ),
    ("line", "gaps * gaps if p == 2 else gaps**p", "gaps if p == 2 else gaps**p"),
    (
        "line",
        "plan_cost(np.sort(x), np.sort(y), atoms, p)",
        "plan_cost(np.sort(x), y, atoms, p)",
    ),
    ("line", "atoms.mass / atoms.mass.sum())", "atoms.mass)"),
    ("line", "j += not is_x[k]", "j += is_x[k]"),
    (
        "line",
        "return plan_cost(z[is_x], z[~is_x], atoms, p) /",
        "return plan_cost(z[~is_x], z[is_x], atoms, p) /",
    ),
    ("line", "total += mass[k] * power(", "total += power("),
    # transport: costs, entropy, dual, updates, Newton
    ("transport", "out ** (p / 2)", "out**p"),
    (
        "transport",
        "return float(plan.sum() - (plan * np.log",
        "return float(plan.sum() + (plan * np.log",
    ),
    (
        "transport",
        "total = np.exp(u[:, None] + v - C / eta).sum()",
        "total = eta * np.exp(u[:, None] + v - C / eta).sum()",
    ),
    (
        "transport",
        "return float(total - a[a > 0] @ u[a > 0]",
        "return float(total + a[a > 0] @ u[a > 0]",
    ),
    (
        "transport",
        "out[j] = fast_exp(guess + v[j] - rate * costs[j])",
        "out[j] = fast_exp(guess + v[j] + rate * costs[j])",
    ),
    (
        "transport",
        "return guess + math.log(mass) - math.log(total), mass / total",
        "return guess - math.log(mass) - math.log(total), mass / total",
    ),
    ("transport", "        guess -= top\n", "        guess += top\n"),
    ("transport", "v[j] += math.log(b[j] / col[j])", "v[j] += math.log(col[j] / b[j])"),
    (
        "transport",
        "v[j], _ = normalise(costs, u, v[j], rate, b[j], column)",
        "v[j], _ = normalise(costs, u, v[j], rate, 1.0, column)",
    ),
    (
        "transport",
        "        out[j] = (a - y[j]) * (a - y[j])\n",
        "        out[j] = a * a - y[j] * y[j]\n",
    ),
    ("transport", "- half.T @ half", "+ half.T @ half"),
    (
        "transport",
        "np.linalg.solve(S, scale * (b - col))",
        "np.linalg.solve(S, scale * (col - b))",
    ),
    (
        "transport",
        'np.full(n, 1 / n)\n    return Transport(value, rows, cols, mass, "assignment"',
        'np.full(n, 1.0)\n    return Transport(value, rows, cols, mass, "assignment"',
    ),
    (
        "transport",
        "objective = -eta * dual_objective",
        "objective = eta * dual_objective",
    ),
    ("transport", "potential *= before / now", "potential *= now / before"),
    # descent: the step of the theorem
    (
        "descent",
        "rho = 2 * bound / eta + 4 * (bound / eta) ** 2",
        "rho = 2 * bound / eta + 2 * (bound / eta) ** 2",
    ),
    (
        "descent",
        "return 1 / (2 * bound / eta + rho), bound",
        "return 10 / (2 * bound / eta + rho), bound",
    ),
    (
        "descent",
        "np.linalg.norm(R, 2) ** 2 * gaps.max()",
        "np.linalg.norm(R) ** 2 * gaps.max()",
    ),
    # bcd: one iteration
    ("bcd", "factor = 1 / (n * total)", "factor = 1 / (v.size * total)"),
    ("bcd", "u[i] += math.log(factor)", "u[i] -= math.log(factor)"),
    ("bcd", "inv_eta, 1 / n, e)", "inv_eta, 1 / v.size, e)"),
    (
        "bcd",
        "share, error, lost = 1 / v.size, 0.0, 0",
        "share, error, lost = 1.0, 0.0, 0",
    ),
    ("bcd", "v[j] += math.log(columns[j])", "v[j] -= math.log(columns[j])"),
    (
        "bcd",
        "normalise(costs, u, v[j], inv_eta, 1 / v.size, e)",
        "normalise(costs, u, v[j], inv_eta, 1 / n, e)",
    ),
    ("bcd", "out[k, a] = mass_q * z - from_q", "out[k, a] = mass_q * z + from_q"),
    (
        "bcd",
        "s[j] += p[j] * x + q[j] * z\n            out",
        "s[j] += p[j] * x\n            out",
    ),
    ("bcd", "Y[k, j] *= columns[j]", "Y[k, j] /= columns[j]"),
    (
        "bcd",
        "M[n + j, k] = F[n + j, k] / (N - n) - columns[j] * pull[k, j]",
        "M[n + j, k] = F[n + j, k] / n - columns[j] * pull[k, j]",
    ),
    (
        "bcd",
        "M[n + j, k] = F[n + j, k] / (N - n) - pull[k, j]",
        "M[n + j, k] = F[n + j, k] / (N - n) + pull[k, j]",
    ),
    ("bcd", "s[k] += from_q + q[i] * x + q[k] * z", "s[k] += from_q + q[k] * z"),
    ("bcd", "share[j, k] = S[k, j] / max(size[k], TINY)", "share[j, k] = S[k, j]"),
    # bcd: start, step and loop
    (
        "bcd",
        "weight = 1 / n if i < n else -1 / (N - n)",
        "weight = 1 / n if i < n else 1 / (N - n)",
    ),
    ("bcd", "max(size - value * value, 0.0))\n\n# ", "max(size, 0.0))\n\n# "),
    ("bcd", "return _Way(G, D, value, size,", "return _Way(G, 2 * D, value, size,"),
    (
        "bcd",
        "keep, add = (1 - t * way.value) / stretch,",
        "keep, add = 1 / stretch,",
    ),
    ("bcd", "if not adaptive or t == 0.0 or fall >=", "if True or fall >="),
    (
        "bcd",
        "fall >= 1e-4 * t * way.slope * 2 / eta",
        "fall >= 1e-4 * t * way.slope * eta",
    ),
    ("bcd", "        t *= 0.5\n", "        t *= 0.9\n"),
    (
        "bcd",
        "row[2] = 2 / problem.eta * math.sqrt(way.slope)",
        "row[2] = 1 / problem.eta * math.sqrt(way.slope)",
    ),
    ("bcd", "row[5] = t * problem.eta / 2", "row[5] = t * problem.eta"),
    ("bcd", "return min(t, 1.9 / max(value, TINY))", "return t"),
    ("bcd", "else 2 * problem.tau / problem.eta", "else problem.tau / problem.eta"),
    (
        "bcd",
        "way, 1 - at.u.mean() - v.mean(), error, t)",
        "way, 1 + at.u.mean() + v.mean(), error, t)",
    ),
    ("bcd", "            t *= 1.2\n", "            t *= 1.0\n"),
    ("bcd", "scale = _unit(new.W, new.E)  #", "scale = 1.0  #"),
    # ends: exact and sorted ascent
    ("ends", "np.add.at(M, n + plan.cols, -pull)", "np.add.at(M, n + plan.cols, pull)"),
    ("ends", "if optimal_cost(new.F[:n], new.F[n:]) > value:", "if True:"),
    ("ends", "left_x, left_y, total = m, n, 0.0", "left_x, left_y, total = n, m, 0.0"),
    ("ends", "out[j] -= pull\n", "out[j] += pull\n"),
    (
        "ends",
        "scale = 1.0 / (float(n) * float(m))",
        "scale = 1.0 / (float(n) * float(n))",
    ),
    ("ends", "key = ~bits[i] if bits[i] & high else bits[i] | high", "key = bits[i]"),
    (
        "ends",
        "_by_digit(spare, np.uint64(43), counts, keys)",
        "_by_digit(spare, np.uint64(44), counts, keys)",
    ),
    (
        "ends",
        "weights = np.where(is_x, 1 / n, -1 / (len(phi) - n))",
        "weights = np.where(is_x, 1 / n, -1 / n)",
    ),
    (
        "ends",
        "    S = pull @ phi\n    return W.T",
        "        S = S + pull @ phi\n    return W.T",
    ),
    # paths: prices, units, masses
    ("paths", "c = costs[j] - prices[j] - shift", "c = costs[j] + prices[j] - shift"),
    (
        "paths",
        "_relax(A[i], prices, A[i, j] - v[j] - reach, i, dist, via)",
        "_relax(A[i], prices, A[i, j] - v[j] + reach, i, dist, via)",
    ),
    ("paths", "v[done[k]] += level[k] - reach", "v[done[k]] -= level[k] - reach"),
    (
        "paths",
        "units_x, units_y = m // math.gcd(n, m), n // math.gcd(n, m)",
        "units_x, units_y = n // math.gcd(n, m), m // math.gcd(n, m)",
    ),
    ("paths", "return total / (n * units_x)", "return total / (m * units_x)"),
    (
        "paths",
        "_send(i, j, -units, rows, mass, degree)",
        "_send(i, j, 0, rows, mass, degree)",
    ),
    (
        "paths",
        "total += mass[j, k] * A[rows[j, k], j]",
        "total += A[rows[j, k], j]",
    ),
    ("paths", "less = c < dist[j]", "less = c > dist[j]"),
    # certificate: the matrix of a plan, its repair, the bound, the relaxation
    ("certificate", "return own - cross - cross.T", "return own - 2 * cross"),
    (
        "certificate",
        "pull_x = plan.sum(1)[:, None] * X - plan @ Y",
        "pull_x = plan.sum(1)[:, None] * X + plan @ Y",
    ),
    (
        "certificate",
        "plan.sum(0)[:, None] * Y - plan.T @ X",
        "plan.sum(0)[:, None] * Y + plan.T @ X",
    ),
    (
        "certificate",
        "rows = np.maximum(1 / n - plan.sum(1), 0)",
        "rows = np.maximum(1 / m - plan.sum(1), 0)",
    ),
    (
        "certificate",
        "return plan + np.outer(rows, cols) / max(rows.sum(), TINY)",
        "return plan + np.outer(rows, cols)",
    ),
    (
        "certificate",
        "return values[-1] + _safety(phi, n, plan)",
        "return values[0] + _safety(phi, n, plan)",
    ),
    (
        "certificate",
        "return rounding + 2 * (off + N * eps) * 4 * squares.max()",
        "return rounding",
    ),
    (
        "certificate",
        "G = 2 * (G - (G * S).sum() * S) / size",
        "G = (G - (G * S).sum() * S) / size",
    ),
    (
        "certificate",
        "Relaxation(bound * unit**2, value * unit**2, best, plan)",
        "Relaxation(bound * unit, value * unit, best, plan)",
    ),
    (
        "certificate",
        "outputs = np.linalg.norm(R, 2) ** 2 *",
        "outputs = np.linalg.norm(R, 2) *",
    ),
    # guarantees: bias, cover, tail, deviation, errors, rates
    (
        "guarantees",
        "return n if m is None else 1 / (",
        "return n if m is None else 2 / (",
    ),
    (
        "guarantees",
        "mass = np.minimum(0.5 * np.sqrt",
        "mass = np.minimum(0.25 * np.sqrt",
    ),
    ("guarantees", "terms = (2**p - 1) * 2.0", "terms = 2**p * 2.0"),
    (
        "guarantees",
        "min(1.0, d ** (p / 2) * _dyadic(h, d, p))",
        "min(1.0, d**p * _dyadic(h, d, p))",
    ),
    ("guarantees", "bracket = 2 * p * eps", "bracket = p * eps"),
    ("guarantees", "np.log1p(2 / eps) / (2 * h))", "np.log1p(2 / eps) / (4 * h))"),
    ("guarantees", "+ p * np.sqrt(tail)", "+ p * tail"),
    ("guarantees", "np.cumsum(phi**2, axis=1)]", "np.cumsum(phi, axis=1)]"),
    (
        "guarantees",
        "math.sqrt(math.log(1 / alpha) / (2 * _pairs(n, m)))",
        "math.sqrt(math.log(2 / alpha) / (2 * _pairs(n, m)))",
    ),
    ("guarantees", "** 2 / (4 * B) ** p)", "** 2 / (2 * B) ** p)"),
    ("guarantees", "slope = -(weight *", "slope = (weight *"),
    (
        "guarantees",
        "stdtrit(n_trials - 1, 0.5 + confidence / 2)",
        "stdtrit(n_trials - 1, confidence)",
    ),
]

# --- the judge -----------------------------------------------------------------------


def close(got, want, rtol=1e-9, atol=1e-11):
    np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)


def slope(f, x, step=1e-6):
    "Central differences of a function of a vector"
    return np.array(
        [(f(x + step * e) - f(x - step * e)) / (2 * step) for e in np.eye(x.size)]
    )


def literal_kernels(h):
    "Each kernel and its formula"
    from kpw_nb.theory.kernels import Gaussian, Laplace, Linear, Matern, Polynomial

    def matern(nu):
        def k(a, b):
            t = math.sqrt(2 * nu) * np.linalg.norm(a - b) / h
            poly = {0.5: 1.0, 1.5: 1 + t, 2.5: 1 + t + t**2 / 3}[nu]
            return poly * math.exp(-t)

        return Matern(h, nu), k

    return [
        (Gaussian(h), lambda a, b: math.exp(-((a - b) @ (a - b)) / (2 * h**2))),
        (Laplace(h), lambda a, b: math.exp(-np.abs(a - b).sum() / h)),
        (Linear(), lambda a, b: a @ b),
        (Polynomial(h, 3, 0.5), lambda a, b: (a @ b / h**2 + 0.5) ** 3),
        *map(matern, (0.5, 1.5, 2.5)),
    ]


def naive_gradient(k, A, B, coef, step=1e-5):
    "Jacobians of the kernel sums, by central differences"
    changes = [
        (k(A + step * e, B) - k(A - step * e, B)) @ coef for e in np.eye(A.shape[1])
    ]
    return np.stack(changes, axis=2) / (2 * step)


def judge_kernels():
    from scipy.spatial.distance import cdist, pdist

    from kpw_nb.theory import kernels

    gen = np.random.default_rng(0)
    A, B = gen.normal(size=(9, 3)), gen.normal(size=(6, 3))
    coef = gen.normal(size=(6, 2))
    for k, formula in literal_kernels(1.7):
        close(k(A, B), [[formula(a, b) for b in B] for a in A])
        close(k.diag(A), np.diag(k(A, A)))
        found, want = k.gradient(A[:2], B, coef), naive_gradient(k, A[:2], B, coef)
        close(found, want, rtol=1e-5, atol=1e-7)
    close(kernels.squared_distances(A, B), cdist(A, B, "sqeuclidean"))
    near = np.vstack([1e6 * A, B[:2], B[:1] + 1e-3])
    gaps = cdist(near, near, "sqeuclidean")
    close(kernels.squared_distances(near), gaps, rtol=1e-9, atol=0)
    close(kernels.median_bandwidth(A), np.median(pdist(A)))
    close(kernels.median_bandwidth(np.repeat(A[:2], [9, 1], axis=0)), pdist(A[:2])[0])
    P = kernels.output_matrix(3, 0.2)
    close(P, [[1, 0.8, 0.8], [0.8, 1, 0.8], [0.8, 0.8, 1]])
    R = kernels.output_factor(P)
    close(R @ R.T, P)


def judge_representer():
    from kpw_nb.theory import representer
    from kpw_nb.theory.kernels import Gaussian

    gen = np.random.default_rng(1)
    Z, new = gen.normal(size=(14, 3)), gen.normal(size=(4, 3))
    k, eye = Gaussian(1.3), np.eye(14)
    K = k(Z, Z)
    top = np.linalg.eigvalsh(K)[-1]
    for ridge in (0.0, 0.05):
        H = K @ np.linalg.solve(K + ridge * top * eye, K)
        features = representer.make_features(k, Z, ridge)
        close(features.H, H, atol=1e-9)
        close(features.transform(k, Z, Z), features.phi, atol=1e-8)
        factor = representer.make_factor(k, Z, ridge)
        close(factor.phi @ factor.phi.T, H, atol=1e-9)
        S = gen.normal(size=(factor.phi.shape[1], 2))
        close(K[:, factor.support] @ factor.expand(S), factor.phi @ S, atol=1e-8)
        variance = representer.make_features(k, Z, ridge, 5, "variance")
        centred = variance.phi - variance.phi.mean(0)
        leading = np.linalg.eigh(K)[1][:, -5:]
        phi0 = K @ leading / np.sqrt(np.linalg.eigvalsh(K)[-5:])
        M = np.cov(phi0.T, bias=True)
        M += ridge * np.linalg.eigvalsh(M)[-1] * np.eye(5)
        close(variance.phi @ variance.phi.T, phi0 @ np.linalg.solve(M, phi0.T), 1e-7)
        close(
            np.trace(centred.T @ centred) / 14,
            np.trace(np.linalg.solve(M, np.cov(phi0.T, bias=True))),
            1e-7,
        )
    L, pivots = representer.pivoted_cholesky(lambda i: K[:, i], np.diag(K), 6)
    inner = np.linalg.inv(K[np.ix_(pivots, pivots)])
    close(L @ L.T, K[:, pivots] @ inner @ K[pivots], atol=1e-9)
    assert len(set(pivots)) == 6
    marks = representer.LandmarkMap(k, Z[:6])
    close(marks(new) @ marks(Z[:6]).T, k(new, Z[:6]), atol=1e-8)


def naive_line(x, y, a, b, p):
    "W on a line: the quantile functions on a fine common grid of levels"
    levels = np.unique(np.r_[0, np.cumsum(a), np.cumsum(b)].round(12))
    middle = (levels[1:] + levels[:-1]) / 2
    i, j = np.searchsorted(np.cumsum(a), middle), np.searchsorted(np.cumsum(b), middle)
    return (np.diff(levels) * np.abs(x[i] - y[j]) ** p).sum()


def judge_line():
    from kpw_nb.theory import line

    gen = np.random.default_rng(2)
    for n, m in ((6, 4), (3, 7), (5, 5)):
        x, y = gen.normal(size=n), gen.normal(size=m) + 0.4
        even = np.full(n, 1 / n), np.full(m, 1 / m)
        weights = gen.dirichlet(np.ones(n)), gen.dirichlet(np.ones(m))
        i, j = np.argsort(x), np.argsort(y)
        for p in (1, 2, 2.5):
            want = naive_line(x[i], y[j], *even, p)
            close(line.sorted_cost(x, y, None, None, p), want)
            a, b = weights
            want = naive_line(x[i], y[j], a[i], b[j], p)
            close(line.sorted_cost(x, y, a, b, p), want)
        for a, b in ((None, None), weights):
            atoms = line.line_plan(x, y, a, b)
            plan = np.zeros((n, m))
            np.add.at(plan, (atoms.rows, atoms.cols), atoms.mass)
            close(plan.sum(1), even[0] if a is None else a)
            close(plan.sum(0), even[1] if b is None else b)
        judge_walks(line, gen, n, m)


def judge_walks(line, gen, n, m):
    "W under relabelling"
    pool = gen.normal(size=n + m)
    order = np.argsort(pool)
    orders = np.array([gen.permutation(n + m) for _ in range(3)])
    for p in (1, 2, 3):
        want = [
            naive_line(
                np.sort(pool[k[:n]]),
                np.sort(pool[k[n:]]),
                np.full(n, 1 / n),
                np.full(m, 1 / m),
                p,
            )
            for k in orders
        ]
        out = np.empty(3)
        line.walks(pool[order], np.argsort(order), orders, n, p, out)
        close(out, want)
        is_x = np.isin(order, orders[0, :n])
        close(line.walk(pool[order], is_x, n, m, p), want[0])


def naive_sinkhorn(C, eta, a, b, sweeps=600):
    "Updates in logarithms"
    from scipy.special import logsumexp

    v = np.zeros(len(b))
    for _ in range(sweeps):
        u = np.log(a) - logsumexp(v - C / eta, axis=1)
        v = np.log(b) - logsumexp(u[:, None] - C / eta, axis=0)
    return u, v


def judge_transport():
    from scipy.optimize import linprog

    from kpw_nb.theory import transport

    gen = np.random.default_rng(3)
    for n, m, d in ((4, 4, 2), (5, 3, 3)):
        x, y = gen.normal(size=(n, d)), gen.normal(size=(m, d)) + 0.5
        sums = np.vstack(
            [np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))]
        )
        mass = np.r_[np.full(n, 1 / n), np.full(m, 1 / m)]
        for p in (1, 2, 3):
            C = np.array([[np.linalg.norm(i - j) ** p for j in y] for i in x])
            close(transport.cost_matrix(x, y, p), C)
            found = transport.exact_transport(x, y, p=p)
            want = linprog(C.ravel(), A_eq=sums[:-1], b_eq=mass[:-1]).fun
            close(found.value, want, 1e-7)
            close(found.plan.sum(1), 1 / n)
            close((found.plan * C).sum(), found.value)
    judge_sinkhorn(transport, gen)


def judge_sinkhorn(transport, gen):
    C = transport.cost_matrix(gen.normal(size=(6, 2)), gen.normal(size=(4, 2)))
    a, b = gen.dirichlet(np.ones(6)), gen.dirichlet(np.ones(4))
    for eta in (0.3, 2.0):
        u, v = naive_sinkhorn(C, eta, a, b)
        plan = np.exp(u[:, None] + v - C / eta)
        value = (plan * C).sum() + eta * (plan * (np.log(plan) - 1)).sum()
        r = transport.sinkhorn(C, eta, a, b, tol=1e-12)
        assert r.converged and r.n_iter < 60
        close(r.plan, plan, 1e-8)
        close(r.objective, value, 1e-8)
        close(transport.entropy(plan), -(plan * (np.log(plan) - 1)).sum())
        u, v = gen.normal(size=6), gen.normal(size=4)
        F = np.exp(u[:, None] + v - C / eta).sum() - a @ u - b @ v
        close(transport.dual_objective(u, v, C, eta, a, b), F)
        few = transport.sinkhorn(C, eta, a, b, max_iter=7, tol=0, v0=v)
        close(few.plan.sum(1), a)
        v7 = v
        for _ in range(7):
            u7 = np.log(a) - np.log(np.exp(v7 - C / eta).sum(1))
            v7 = np.log(b) - np.log(np.exp(u7[:, None] - C / eta).sum(0))
        close(few.potentials[1], v7, 1e-8)
    judge_newton(transport, gen)


def judge_newton(transport, gen):
    "Small η needs warm starts and Newton steps; huge costs need the shift"
    C = transport.cost_matrix(gen.normal(size=(12, 2)), gen.normal(size=(9, 2)))
    r = transport.sinkhorn(C, 0.01 * C.mean(), tol=1e-11, max_iter=400)
    assert r.converged and r.n_iter <= 60, r.n_iter
    r = transport.sinkhorn(C, 1e-5 * C.mean(), tol=1e-9, max_iter=2000)
    assert r.converged and r.error < 1e-8
    line = np.array([[0.0, 900.0], [900.0, 3600.0]])  # a column that underflows
    r = transport.sinkhorn(line, 1.0, tol=0, max_iter=1, v0=np.zeros(2))
    u, v = naive_sinkhorn(line, 1.0, np.full(2, 0.5), np.full(2, 0.5), 1)
    close(r.potentials[1], v)
    point, others = gen.normal(size=3), gen.normal(size=(3, 5))
    costs, out = np.empty(5), np.empty(5)
    transport.squared_gaps(point, others, costs)
    close(costs, ((point[:, None] - others) ** 2).sum(0))
    for guess in (0.0, 1e4, -1e4):
        got, factor = transport.normalise(costs, np.zeros(5), guess, 2.0, 0.3, out)
        close(got, math.log(0.3) - math.log(np.exp(-2 * costs).sum()), 1e-7)
        close(factor * out.sum(), 0.3)


class Small(NamedTuple):
    "Two small clouds, their features, output factor and a start"

    gen: np.random.Generator
    Z: np.ndarray
    features: object
    P: np.ndarray
    R: np.ndarray
    S: np.ndarray


def small_problem(seed=4, n=5, m=4, d=2):
    from kpw_nb.theory.kernels import Gaussian, output_factor, output_matrix
    from kpw_nb.theory.representer import make_features

    gen = np.random.default_rng(seed)
    Z = np.vstack([gen.normal(size=(n, 3)), 1.7 * gen.normal(size=(m, 3))])
    features, P = make_features(Gaussian(1.5), Z), output_matrix(d, 0.5)
    S = gen.normal(size=(features.phi.shape[1], d))
    return Small(gen, Z, features, P, output_factor(P), S / np.linalg.norm(S))


def squared(F, n):
    return ((F[:n, None] - F[None, n:]) ** 2).sum(-1)


def laplacian(plan):
    return np.block([[np.diag(plan.sum(1)), -plan], [-plan.T, np.diag(plan.sum(0))]])


def judge_descent():
    "The step of the theorem"
    from oracles import naive_A, naive_G, naive_U

    from kpw_nb.theory import descent
    from kpw_nb.theory.kernels import Gaussian

    p, k, eta = small_problem(), Gaussian(1.5), 0.4
    blocks = k, p.Z[:5], p.Z[5:], p.P
    A, U = naive_A(*blocks), naive_U(naive_G(*blocks))
    tau, bound = descent.theory_step(p.features.phi, p.R, 5, eta)
    b = max(np.linalg.norm(a @ U, 2) ** 2 for row in A for a in row)
    close(bound, b, 1e-6)
    close(tau, 1 / (4 * b / eta + 4 * (b / eta) ** 2), 1e-6)


def one_sweep(bcd, F, n, u, v, eta, hold):
    "u, v, plan, Λ(π)F and the error, by the package"
    u, v = u.copy(), v.copy()
    plan, columns = np.empty((n if hold else 1, len(v))), np.empty(len(v))
    bcd.update_rows(F, n, u, v, 1 / eta, plan, columns)
    error = bcd.update_columns(F, n, u, v, 1 / eta, plan, columns)
    M = bcd.plan_laplacian(F, n, u, v, 1 / eta, plan, columns)
    return u, v, plan * columns, M, error


def judge_sweep(bcd):
    from scipy.special import logsumexp

    gen = np.random.default_rng(5)
    for n, m, d in ((5, 4, 2), (4, 7, 3), (3, 5, 4), (6, 3, 1)):
        F = gen.normal(size=(n + m, d))
        u, v = gen.normal(size=n), gen.normal(size=m)
        for eta in (0.5, 1e-4):
            c = squared(F, n) / eta
            u1 = -np.log(n) - logsumexp(v - c, axis=1)
            before = np.exp(logsumexp(u1[:, None] + v - c, axis=0))
            v1 = -np.log(m) - logsumexp(u1[:, None] - c, axis=0)
            plan = np.exp(u1[:, None] + v1 - c)
            error = np.abs(before - 1 / m).sum()
            want = u1, v1, plan, laplacian(plan) @ F, error
            for hold in (True, False):
                got = one_sweep(bcd, F, n, u, v, eta, hold)
                for part in (0, 1, 3, 4) if not hold else range(5):
                    close(got[part], want[part], 1e-7, 1e-9)


def judge_products(bcd):
    p = small_problem()
    gen, features, S = p.gen, p.features, p.S
    for N in (9, 8):
        phi, W = features.phi[:N].copy(), gen.normal(size=(N, 2))
        close(bcd.gram_product(phi, phi @ phi.T, W), phi @ phi.T @ W)
        close(bcd.gram_product(phi, np.empty((0, 0)), W), phi @ phi.T @ W)
    close(features.phi.T @ bcd.coefficients(features.phi, S), S)
    start = bcd.witness_start(features.phi, np.eye(9)[:, :2].copy(), 5, 2)
    witness = features.phi[:5].mean(0) - features.phi[5:].mean(0)
    close(start[:, 0] / np.linalg.norm(start[:, 0]), witness / np.linalg.norm(witness))


def dense_run(phi, R, S, n, eta, tau, turns):
    "Algorithm 2 with dense matrices: rows (F, cost, gradient, error), and S"
    m, rows = len(phi) - n, []
    u, v = np.zeros(n), np.zeros(m)
    for k in range(turns):
        F = phi @ S @ R.T
        E = np.exp(-squared(F, n) / eta)
        u = -np.log(n * (E * np.exp(v)).sum(1))
        before = (E * np.exp(u[:, None] + v)).sum(0)
        v = v - np.log(m * before)
        plan = E * np.exp(u[:, None] + v)
        zeta = -2 / eta * phi.T @ laplacian(plan) @ F @ R
        xi = zeta - (S * zeta).sum() * S
        value = plan.sum() - u.mean() - v.mean()
        cost, error = (plan * squared(F, n)).sum(), np.abs(before - 1 / m).sum()
        rows.append((value, cost, np.linalg.norm(xi), error))
        if k < turns - 1:
            S = (S - tau * xi) / np.linalg.norm(S - tau * xi)
    return np.array(rows), S


def judge_runs(bcd):
    from kpw_nb.theory.descent import theory_step

    p = small_problem()
    features, R, S = p.features, p.R, p.S
    W = bcd.coefficients(features.phi, S)
    eta, start = 0.3, bcd.Start(W, np.zeros(4), 0.0)
    tau = 2 * theory_step(features.phi, R, 5, eta)[0]
    problem = bcd.Problem(features.phi, features.H, R, 5, eta, tau)
    r = bcd.descent(problem, start, 8, 0.0, True)
    rows, S_end = dense_run(features.phi, R, S, 5, eta, tau, 8)
    close(r.history[:, [0, 1, 4]], rows[:, [0, 1, 3]], 1e-8)
    close(r.history[:, 2], rows[:, 2], 1e-6)
    close(r.history[:, 5], tau)
    close(features.phi.T @ r.W, S_end, 1e-7)
    close(r.F, features.phi @ S_end @ R.T, 1e-7)
    close(r.plan.sum(0), 1 / 4)
    for eta in (1000.0, 1.0, 0.05, 0.01):
        judge_adaptive(bcd, problem._replace(eta=eta, tau=0.0), start)
    judge_long_steps(bcd)


def judge_long_steps(bcd):
    "Rounding in the norm of S grows with every long step unless it is taken out"
    p = small_problem(3, 12, 9)
    features, R, S = p.features, p.R, p.S
    start = bcd.Start(bcd.coefficients(features.phi, S), np.zeros(9), 0.0)
    problem = bcd.Problem(features.phi, np.empty((0, 0)), R, 12, 0.5, 0.0)
    value = bcd.descent(problem, start, 20, 0.0, True).history[-1, 1]
    r = bcd.descent(problem._replace(tau=1.0 / value), start, 100, 0.0, True)
    assert r.history[:, 1].max() < 100 * value
    close(np.linalg.norm(features.phi.T @ r.W), 1.0, 3e-13, 0)


def judge_adaptive(bcd, problem, start):
    "Every turn of a run with the adaptive step keeps what its proposition says"
    from kpw_nb.theory.descent import theory_step

    r = bcd.descent(problem, start, 40, 1e-5, True)
    F, value, size = r.history[:, :3].T
    angle, error, step = r.history[:, 3:].T
    taken, eta = step[1:] / 1.2, problem.eta
    first = min(step[1] / 1.2, eta / (2 * value[0]))
    tried = np.minimum(np.r_[eta / (2 * value[0]), step[1:-1]], 0.95 * eta / value[:-1])
    halvings = np.log2(tried / taken)
    close(halvings, np.round(halvings), atol=1e-6)
    assert first > 0 and halvings.min() > -1e-6
    gain = -np.diff(F) - error[1:] ** 2 / 2
    assert (gain >= 1e-4 * taken * size[:-1] ** 2 - 1e-13).all()
    assert len(F) < 40 or eta * np.ptp(F) > 0.01
    x = theory_step(problem.phi, problem.R, problem.n, eta)[1] / eta
    assert taken.min() >= 0.5 / (2 * x + 4 * x**2)
    at = angle * np.linalg.norm(problem.phi.T @ r.W)
    assert (at <= 1 + 1e-9).all()
    close(problem.phi @ (problem.phi.T @ r.W) @ problem.R.T, r.F, 1e-8)


def judge_order(ends):
    "Three passes of the radix sort give the order of single precision"
    gen = np.random.default_rng(7)
    f = np.r_[1 + 1e-2 * gen.normal(size=200), gen.normal(size=50), -1e-20, 0.0]
    keys, spare = np.empty((2, f.size), np.uint64)
    ends._keys(f, keys)
    ends.sort_keys(keys, spare, np.empty(2048, np.int64))
    single = (f / np.abs(f).max()).astype(np.float32)
    found = single[(spare & np.uint64(2**32 - 1)).astype(int)]
    np.testing.assert_array_equal(found, np.sort(single))


def judge_exact(ends):
    from kpw_nb.theory.bcd import coefficients
    from kpw_nb.theory.transport import exact_transport

    p = small_problem(6, 6, 5)
    gen, phi, R = p.gen, p.features.phi, p.R
    W = coefficients(phi, p.S)
    r = ends.exact_ascent(phi, R, 6, W, 25, 0.0)
    plan = exact_transport(r.F[:6], r.F[6:])
    close(ends.sparse_laplacian(r.F, 6, plan), laplacian(plan.plan) @ r.F)
    assert (np.diff(r.history[:, 1]) > 0).all()
    close(r.transport.value, plan.value, 1e-8)
    for n in (4, 7):
        phi, steps = gen.normal(size=(11, 3)) * [30.0, 1.0, 1e-3], 4
        is_x = np.array([gen.permutation(11) < n for _ in range(2)])
        got = ends.sorted_ascent(phi, is_x, steps)
        for row, mark in zip(got, is_x, strict=True):
            s = phi[mark].mean(0) - phi[~mark].mean(0)
            for value in row:
                s /= np.linalg.norm(s)
                both = np.vstack([phi[mark], phi[~mark]])
                f = both @ s
                plan = exact_transport(f[:n], f[n:])
                close(value, plan.value, 1e-6)
                s = both.T @ laplacian(plan.plan) @ f


def judge_bcd():
    from kpw_nb.theory import bcd

    judge_sweep(bcd)
    judge_products(bcd)
    judge_runs(bcd)


def judge_ends():
    from kpw_nb.theory import ends

    judge_order(ends)
    judge_exact(ends)


def judge_paths():
    from scipy.optimize import linprog

    from kpw_nb.theory import paths

    gen = np.random.default_rng(11)
    for n, m in ((4, 4), (4, 6), (6, 4), (3, 5), (7, 7)):
        for _ in range(6):
            points = gen.normal(size=(n + m, 2))
            C = squared(np.vstack([points, points]), n + m)
            order = gen.permutation(n + m)
            x, y = order[:n], order[n:]
            A = C[np.ix_(x, y)]
            rows = np.kron(np.eye(n), np.ones(m))
            sums = np.vstack([rows, np.kron(np.ones(n), np.eye(m))])
            mass = np.r_[np.full(n, 1 / n), np.full(m, 1 / m)]
            want = linprog(A.ravel(), A_eq=sums[:-1], b_eq=mass[:-1]).fun
            close(paths.shortest_paths(C, x, y), want, 1e-8)


def judge_certificate():
    from kpw_nb.theory import certificate

    gen = np.random.default_rng(12)
    phi, n, m = gen.normal(size=(9, 3)), 5, 4
    plan = gen.dirichlet(np.ones(20)).reshape(5, 4)
    gaps = phi[:n, None] - phi[None, n:]
    B = np.einsum("ij,ijk,ijl->kl", plan, gaps, gaps)
    close(certificate.plan_matrix(phi, n, plan), B)
    close(certificate.plan_pull(phi, n, plan), laplacian(plan) @ phi)
    fixed = certificate.repair_plan(plan * gen.uniform(0.5, 1.5, size=(5, 4)))
    close(fixed.sum(1), 1 / n)
    close(fixed.sum(0), 1 / m)
    bound = certificate.plan_bound(phi, n, fixed, 2)[0]
    literal = np.einsum("ij,ijk,ijl->kl", fixed, gaps, gaps)
    close(bound, np.linalg.eigvalsh(literal)[-1], 1e-9)
    assert certificate.plan_bound(phi, n, 0.5 * fixed)[0] >= bound
    smooth, S = certificate._Smooth(phi, n, 0.5, 2.0), gen.normal(size=6)
    step = 1e-3 * gen.normal(size=6)
    change = smooth(S + step)[0] - smooth(S - step)[0]
    close(change, 2 * smooth(S)[1] @ step, 5e-3, 1e-7)
    judge_relaxation(certificate, gen)


def judge_relaxation(certificate, gen):
    "A translation: the bound is its square; units and outputs count"
    moved = 3 * gen.normal(size=(4, 2))
    moved = np.vstack([moved, moved + [6.0, 0.0]])
    solved = certificate.relax(moved, 4)
    assert solved.value <= 36 * (1 + 1e-9) and 36 <= solved.bound <= 36.2
    R, S = np.array([[2.0]]), np.array([[1.0], [0.0]])
    found = certificate.upper_bound(moved, 4, R, S, solved)
    close(found, 4 * 36, 1e-2)
    assert found >= 4 * 36 * (1 - 1e-12)


def naive_bias(h, d, p, B):
    "The dyadic bound of one projector, level by level"
    best = math.inf
    for J in range(30):
        total = 2.0 ** (-J * p)
        for level in range(1, J + 1):
            mass = min(0.5 * math.sqrt(2.0 ** (d * level) / h), 1.0)
            total += (2**p - 1) * 2.0 ** (-level * p) * mass
        best = min(best, total)
    return (2 * math.sqrt(B)) ** p * min(1.0, d ** (p / 2) * best)


def judge_guarantees():
    from scipy.stats import t as student

    from kpw_nb.theory import guarantees
    from kpw_nb.theory.kernels import Gaussian

    n, m, B = 3000, 6000, 1.5
    h = n * m / (n + m)
    for d, p in ((1, 1.0), (2, 2.0), (3, 1.5)):
        close(guarantees.fixed_bias(n, m, d, p, B), naive_bias(h, d, p, B))
        close(guarantees.fixed_bias(n, None, d, p, B), naive_bias(n, d, p, B))
        grid, scale = np.geomspace(1e-9, 1, 400), (2 * math.sqrt(B)) ** p
        cover = 2 * p * grid + np.sqrt(2 * d * np.log(1 + 2 / grid) / (2 * h))
        want = naive_bias(h, d, p, B) + scale * (cover.min() + p * math.sqrt(1e-4))
        assert want < scale
        close(guarantees.kpw_bias(n, m, d, p, B, rank=2, tail=1e-4), want)
        off = scale * math.sqrt(math.log(1 / 0.1) / (2 * h))
        close(guarantees.concentration(n, m, 0.1, B, p), off)
        missed = math.exp(-2 * h * 0.01**2 / (4 * B) ** p)
        close(guarantees.type2_bound(0.03, 0.02, n, m, B, p), missed)
    gen = np.random.default_rng(13)
    Z, new, k = gen.normal(size=(12, 2)), gen.normal(size=(6, 2)), Gaussian(1.0)
    Q = np.linalg.eigh(k(Z, Z))[1][:, ::-1][:, :3]
    c = k(new, Z) @ Q
    rest = 1 - (c * np.linalg.solve(Q.T @ k(Z, Z) @ Q, c.T).T).sum(1)
    close(guarantees.kernel_tail(k, Z, new)[3], rest.mean(), 1e-7)
    sizes = np.array([10, 100, 1000])
    values = sizes[:, None] ** -0.7 * np.exp(0.1 * gen.normal(size=(3, 5)))
    fit = guarantees._power_law(sizes, values, 0.9)
    slope = np.polyfit(np.log(sizes), np.log(values.mean(1)), 1)[0]
    close(fit.exponent, -slope)
    error = values.std(1, ddof=1) / math.sqrt(5) / values.mean(1)
    x = np.log(sizes) - np.log(sizes).mean()
    width = math.sqrt(((x / (x @ x)) ** 2 * error**2).sum()) * student.ppf(0.95, 4)
    close(fit.high - fit.exponent, width)


JUDGES = dict(
    kernels=judge_kernels,
    representer=judge_representer,
    line=judge_line,
    transport=judge_transport,
    descent=judge_descent,
    bcd=judge_bcd,
    ends=judge_ends,
    paths=judge_paths,
    certificate=judge_certificate,
    guarantees=judge_guarantees,
)


def interpret():
    "Without compilation the two casts of bits in `fast_exp` have to be NumPy's"
    import kpw_nb.ground.core as core

    def bits_of(x):
        return np.float64(x).view(np.int64)

    def float_of(bits):
        return np.int64(bits).view(np.float64)

    core._bits_of, core._float_of = bits_of, float_of


# --- the trials ----------------------------------------------------------------------


def trial(folder, module):
    "The judge of this module on the package in this folder, in a process of its own"
    env = os.environ | dict(
        PYTHONPATH=f"{folder}{os.pathsep}{Path(__file__).parent}",
        NUMBA_DISABLE_JIT="1",
        PYTHONDONTWRITEBYTECODE="1",
    )
    return subprocess.run(
        [sys.executable, __file__, module],
        env=env,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )


def copy_package(folder):
    skip = shutil.ignore_patterns("__pycache__", "*.pyi", "templates")
    shutil.copytree(PACKAGE, folder / "kpw_nb", ignore=skip)


@pytest.mark.parametrize("module", JUDGES)
def test_the_judge_acquits_the_package(module, tmp_path):
    copy_package(tmp_path)
    run = trial(tmp_path, module)
    assert run.returncode == 0, run.stderr[-2000:]
    assert str(tmp_path) in run.stdout  # it was the copy that stood before the judge


def test_every_mutant_still_has_its_text():
    assert len(set(MUTANTS)) == len(MUTANTS) >= 110
    for module, old, new in MUTANTS:
        text = (PACKAGE / "theory" / f"{module}.py").read_text(encoding="utf-8")
        assert text.count(old) == 1, (module, old, text.count(old))
        assert new != old


@pytest.mark.slow
@pytest.mark.parametrize("module, old, new", MUTANTS)
def test_mutant_is_found_guilty(module, old, new, tmp_path):
    copy_package(tmp_path)
    path = tmp_path / "kpw_nb" / "theory" / f"{module}.py"
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), "utf-8")
    try:
        run = trial(tmp_path, module)
    except subprocess.TimeoutExpired:
        return  # it never ends: guilty
    assert "SyntaxError" not in run.stderr and "ImportError" not in run.stderr
    assert run.returncode != 0, f"survived: {module}: {old!r} -> {new!r}"


if __name__ == "__main__":
    interpret()
    print(PACKAGE)
    with np.errstate(all="ignore"):
        JUDGES[sys.argv[1]]()
