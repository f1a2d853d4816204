"""Prints the reference values that stand in the tests of src/stats, by other means than ours.

Needs the packages numpy, scipy, mpmath and diptest in any recent version:
    python3 tests/statistical/reference.py
Not run by the tests: the values are copied into them, with their source beside.
"""
import diptest
import mpmath
import numpy as np
from mpmath import betainc, erfinv, exp, findroot, log, loggamma, mp, mpf, ncdf, nsum, sqrt
from scipy import stats
from scipy.stats import binom

mp.dps = 40


def show(name, value):
    print(f"{name:55s} {mpmath.nstr(mpf(value), 17)}")


def student_cdf(x, df):
    x, df = mpf(x), mpf(df)
    tail = betainc(df / 2, mpf(1) / 2, 0, df / (df + x * x), regularized=True) / 2
    return 1 - tail if x > 0 else tail


def binomial_at_most(k, n, p):
    """Terms from the largest down, until they no longer count."""
    p, j, total = mpf(p), k, mpf(0)
    term = exp(loggamma(n + 1) - loggamma(k + 1) - loggamma(n - k + 1) + k * log(p) + (n - k) * log(1 - p))
    while j >= 0 and (total == 0 or term > total * mpf(10) ** -30):
        total += term
        term = term * j * (1 - p) / ((n - j + 1) * p)
        j -= 1
    return total


def distributions():
    for p in ("0.975", "0.5001", "1e-9", "0.025", "0.9999"):
        show(f"normal_quantile({p})", sqrt(mpf(2)) * erfinv(2 * mpf(p) - 1))
    for x in ("1.5", "-3", "-8"):
        show(f"normal_cdf({x})", ncdf(mpf(x)))
    for p, df in (("0.975", 1), ("0.975", 2), ("0.975", "2.5"), ("0.975", 4), ("0.975", 29), ("0.9", "0.7"),
                  ("0.995", 1000), ("0.025", 3)):
        start = stats.t.ppf(float(p), float(df))
        show(f"student_t_quantile({p}, {df})", findroot(lambda x: student_cdf(x, df) - mpf(p), mpf(start)))
    for x, df in (("2", "5"), ("-1.3", "2.7")):
        show(f"student_t_cdf({x}, {df})", student_cdf(x, df))
    for a, b, x in (("2", "3", "0.4"), ("0.5", "0.5", "0.1"), ("20", "350", "0.06"), ("5000", "5001", "0.49")):
        show(f"incomplete_beta({a}, {b}, {x})", betainc(mpf(a), mpf(b), 0, mpf(x), regularized=True))
    for k, n, p in ((360, 368, "0.99"), (39, 100, "0.5"), (499020, 10**6, "0.5"), (9899400, 10**7, "0.99")):
        show(f"binomial_at_most({k}, {n}, {p})", binomial_at_most(k, n, p))
    for x in ("0.8", "1.2", "1.747", "2.001"):
        y = mpf(x)
        show(f"kuiper_tail({x})", 2 * nsum(lambda j: (4 * j * j * y * y - 1) * exp(-2 * j * j * y * y), [1, 200]))


def ranks(n, p, confidence=0.95):
    allowed = (1 - confidence) / 2
    lower = [r for r in range(1, n + 1) if binom.cdf(r - 1, n, p) <= allowed]
    upper = [s for s in range(1, n + 1) if binom.sf(s - 1, n, p) <= allowed]
    return (max(lower) if lower else None, min(upper) if upper else None)


def rank_table():
    for n, p in ((5, .5), (6, .5), (10, .5), (30, .5), (100, .5), (400, .5), (1000, .5), (10000, .5), (28, .9), (35, .9),
                 (36, .9), (100, .9), (71, .95), (72, .95), (100, .95), (1000, .95), (100, .99), (367, .99), (368, .99),
                 (1000, .99)):
        lower, upper = ranks(n, p)
        covered = 1 - (binom.cdf(lower - 1, n, p) if lower else 0) - (binom.sf(upper - 1, n, p) if upper else 0)
        print(f"ranks n={n} p={p}: {lower} {upper} coverage {covered!r}")
    print("ranks at other confidences", ranks(100, .5, .99), ranks(30, .5, .9), ranks(4, .9), ranks(3, .5))
    for n in (10**6, 10**7):
        for p, rest in (("0.5", "0.5"), ("0.99", "0.01")):
            near = int(binom.ppf(.025, n, float(p)))
            lower = max(k + 1 for k in range(near - 3, near + 3) if binomial_at_most(k, n, p) <= mpf("0.025"))
            near = int(binom.ppf(.975, n, float(p)))
            upper = min(s for s in range(near - 3, near + 5) if binomial_at_most(n - s, n, rest) <= mpf("0.025"))
            print(f"ranks n={n} p={p}: {lower} {upper}")


def effective_sample_size(values):
    """The definition in src/stats/autocorrelation.cpp in plain loops, for fewer than 64 values."""
    x = np.asarray(values, float)
    n = len(x)
    centred = x - x.mean()
    gamma = [(centred[:n - lag] * centred[lag:]).sum() / n for lag in range(n)]
    pair = gamma[0] + gamma[1]
    total = -gamma[0] + 2 * max(0, pair)
    lag = 2
    while pair > 0 and lag + 1 < n:
        following = gamma[lag] + gamma[lag + 1]
        if following <= 0:
            break
        pair = min(pair, following)
        total += 2 * pair
        lag += 2
    used = (2 * lag - 1) / n
    total /= max(1 - used, 0.5)
    total *= 1 + min(max((total / gamma[0] - 2) / 2, 0), 1) * np.sqrt(2 * used)
    return min(max(n * gamma[0] / max(total, gamma[0]), 1), n)


def series():
    digits = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3], float)
    c = digits - digits.mean()
    for lag in (1, 2, 3):
        print("autocorrelation", lag, repr((c[:-lag] * c[lag:]).sum() / (c * c).sum()))
    print("effective size, digits", repr(effective_sample_size(digits)))
    rising = [7, 9, 0, 7, 2, 5, 9, 2, 7, 1, 3, 9, 4, 5, 2, 1, 4, 6, 4, 7, 3, 6, 7, 9]
    print("effective size, rising pairs", repr(effective_sample_size(rising)))
    print("effective size, blocks", repr(effective_sample_size([0] * 4 + [1] * 4 + [0] * 4 + [1] * 4 + [0, 0, 1, 0])))


def processes():
    logs = np.log([10e6, 10.2e6, 10.5e6])
    reach = stats.t.ppf(.975, 2) * logs.std(ddof=1) / np.sqrt(3)
    print("process_mean", np.exp([logs.mean(), logs.mean() - reach, logs.mean() + reach]).tolist())
    values = np.array([-1., 2, 4])
    reach = stats.t.ppf(.975, 2) * values.std(ddof=1) / np.sqrt(3)
    print("linear", values.mean(), values.mean() - reach, values.mean() + reach)
    a, b = np.log([100, 101, 103.]), np.log([110, 108, 115, 111.])
    interval = stats.ttest_ind(b, a, equal_var=False).confidence_interval(.95)
    print("welch", np.exp([b.mean() - a.mean(), interval.low, interval.high]).tolist())
    gaps = np.array([10, 12, 11, 9, 10, 10, 13, 12, 9, 8, 10, 11, 12, 10, 9, 11, 10, 10, 12, 11], float)
    batches = gaps.reshape(10, 2).mean(1)
    relative = batches.std(ddof=1) / np.sqrt(10) / batches.mean()
    print("batch means, relative reach", repr(relative * stats.t.ppf(.975, 9)))


def congruential(n, state):
    values = []
    for _ in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        values.append((state >> 11) / 2**53)
    return np.array(values)


def dips():
    for n, seed in ((5, 1), (10, 2), (25, 3), (100, 4), (1000, 5)):
        place = congruential(n, seed)
        print("dip", n, diptest.dipstat(place), diptest.dipstat(np.where(congruential(n, seed + 100) < .4, place * .3, place * .3 + .8)))
    print("dip", diptest.dipstat(np.array([1, 1.1, 1.2, 5, 5.1, 5.2])), diptest.dipstat(np.array([1., 2, 3, 7, 8, 9, 10, 30])))


distributions()
rank_table()
series()
processes()
dips()
