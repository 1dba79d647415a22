"""Questions with a known truth, from seeded randomness."""

import numpy as np

from results.domain.measurement.metrics import Better
from results.domain.statistics.verdict import Question, Sample


def sample(values, run=1, part=()):
    keys = tuple((run, block) for block in range(1, len(values) + 1))
    return Sample(tuple(float(value) for value in values), keys, part)


def question(base, other, *, run=1, better=Better.HIGHER, minimum_effect=0.02, part=(), **rest):
    """Return a question of two samples.

    run: of the other side; 1, as the base's, makes pairs.
    part: questions of one part borrow from one another."""
    return Question(sample(base, part=part), sample(other, run, part), better, minimum_effect, **rest)


def simulated(count, n, *, cv, effect=0.0, run=1, seed=1, block=0.0, noise=None, minimum_effect=0.02):
    """count questions with n values a side, none of which has anything to do with another.

    block: standard deviation of what the values of a block share.
    noise: (random, shape) → noise of unit variance; normal without it."""
    random = np.random.default_rng([seed, n, round(1e4 * cv), round(1e4 * effect), run])
    generator = noise or (lambda random, shape: random.normal(0, 1, shape))
    base, other = (cv * generator(random, (count, n)) for _ in range(2))
    shared = random.normal(0, block, (count, n)) if block else 0
    base, other = np.exp(base + shared), (1 + effect) * np.exp(other + shared)
    return [
        question(a, b, run=run, minimum_effect=minimum_effect, part=(str(number),))
        for number, (a, b) in enumerate(zip(base.tolist(), other.tolist(), strict=True))
    ]
