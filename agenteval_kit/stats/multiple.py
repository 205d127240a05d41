"""Several tests in one report: Holm's step-down adjustment.

It may not adjust a gate: its clauses are fixed in advance and must all hold.
"""

from __future__ import annotations

from collections.abc import Sequence


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

    References
    ----------
    Holm, S. (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal
    of Statistics 6, 65-70. Wraps statsmodels `multipletests`.

    Examples
    --------
    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03, 0.005])]
    [0.03, 0.06, 0.06, 0.02]
    """
    made = [p for p in p_values if p is not None]
    if len(made) <= 1:
        return list(p_values)
    from statsmodels.stats.multitest import multipletests  # heavy: one to two seconds to import

    adjusted = iter(multipletests(made, method="holm")[1].tolist())
    return [None if p is None else next(adjusted) for p in p_values]
