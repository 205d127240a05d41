"""Several tests in one report: Holm's step-down adjustment.

It may not adjust a gate: its clauses are fixed in advance and must all hold.
"""

from __future__ import annotations

from collections.abc import Sequence

from agenteval_kit.stats.arguments import finite


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjusted p-values of a family of tests, in the order given.

    Parameters
    ----------
    p_values
        In [0, 1]; None is a test that could not be made: it stays None and is not counted.

    Returns
    -------
    list
        Adjusted p-values in [0, 1], never smaller than the raw ones; one test stays as it is.

    Raises
    ------
    ConfigError
        If a p-value lies outside [0, 1] or is not a number.

    References
    ----------
    Holm, S. (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal
    of Statistics 6, 65-70. To the bit what statsmodels `multipletests` gives, which takes a second
    to import.

    Examples
    --------
    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03, 0.005])]
    [0.03, 0.06, 0.06, 0.02]
    """
    made = [
        finite(f"p_values: test {at} (None where it could not be made)", p, low=0, high=1)
        for at, p in enumerate(p_values)
        if p is not None
    ]
    if len(made) <= 1:
        return list(p_values)
    at_least = 0.0
    adjusted: dict[float, float] = {}
    for rank, p in enumerate(sorted(made)):
        at_least = max(at_least, p * (len(made) - rank))
        # Equal p-values share what the first of them gets.
        adjusted.setdefault(p, min(at_least, 1.0))
    return [None if p is None else adjusted[p] for p in p_values]
