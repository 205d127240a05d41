"""People to simulate: how often they are right, and the true levels under what they said.

It may not correct anybody's score: it only makes simulated people agree as real ones did.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from agenteval_kit.errors import ConfigError
from agenteval_kit.stats.anchored import Floats
from agenteval_kit.stats.arguments import finite

__all__ = ["person_accuracy", "said_of", "true_shares"]

_STEP = 0.005


def said_of(accuracy: float, levels: int) -> Floats:
    """Chance of each level said (rows) of each true one (columns): right, or a neighbour of it.

    At the ends of the scale there is one neighbour, and it takes all errors.
    """
    found = np.zeros((levels, levels))
    for true in range(levels):
        found[true, true] = accuracy
        for step in (-1, 1):
            said = true + step if 0 <= true + step < levels else true - step
            found[said, true] += (1 - accuracy) / 2
    return found


def true_shares(said: Sequence[float] | npt.NDArray[np.floating], accuracy: float) -> Floats:
    """The shares of the true levels under the shares of what people said.

    Errors spread labels over the scale: of transcripts of which nine in ten are a 4, people who are
    right 80 % of the time call a fifth something else. Taking such labels for true levels and
    adding the errors again makes failures too many.

    Parameters
    ----------
    said
        Share, or number, of the labels at each level, lowest first.
    accuracy
        How often a person gives the true level; errors go to the neighbours.

    Returns
    -------
    array of float, shape (levels,)
        In [0, 1], summing to 1: the shares whose labels come nearest, by least squares.

    Raises
    ------
    ConfigError
        If there are fewer than two levels, nothing was said, or a share is negative or not finite.

    References
    ----------
    Lawson and Hanson (1974), Solving Least Squares Problems, as scipy `nnls`. Checked by exact
    recovery of known shares.
    """
    from scipy.optimize import nnls  # heavy: only who simulates people needs it

    given = np.asarray(said, dtype=float)
    finite("accuracy", accuracy, low=0, high=1)
    if len(given) < 2 or not (np.isfinite(given).all() and (given >= 0).all() and given.any()):
        raise ConfigError(f"said: {list(said)!r} are no shares of two levels or more.")
    found, _ = nnls(said_of(accuracy, len(given)), given / given.sum())
    return np.asarray(found / found.sum())


def person_accuracy(said: Sequence[float] | npt.NDArray[np.floating], exact: float) -> float | None:
    """How often a person is right, from how often two people say the same; None if none fits.

    Two people agree where both are right, or both wrong towards the same neighbour: with accuracy a
    on a^2 + (1 - a)^2 / 2 of the transcripts, and at the ends of the scale, which have one
    neighbour, on a^2 + (1 - a)^2. How many lie at the ends follows from what was said. Of the
    accuracies that fit, the highest.

    Parameters
    ----------
    said
        Share, or number, of the labels at each level, lowest first.
    exact
        Share of transcripts on which two people say the same.

    Raises
    ------
    ConfigError
        As `true_shares`.
    """
    if finite("exact", exact, low=0) >= 1:
        return 1.0
    levels = len(said)

    def agreed(accuracy: float) -> float:
        alike = (said_of(accuracy, levels) ** 2).sum(axis=0)
        return float(alike @ true_shares(said, accuracy))

    above, over = 1.0, 1.0
    for below in np.arange(1 - _STEP, 1 / 3 - 1e-9, -_STEP):
        under = agreed(float(below))
        if under <= exact:
            return float(below + (above - below) * (exact - under) / (over - under))
        above, over = float(below), under
    return None
