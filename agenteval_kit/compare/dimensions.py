"""Judged dimensions of two runs as a table.

May not pair or test anything: `agenteval_kit.judge.pairing` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from agenteval_kit.judge.pairing import PairedDimension
    from agenteval_kit.records.trust import DimensionTrust

__all__ = ["dimensions_frame"]


def dimensions_frame(
    pairs: Sequence[PairedDimension],
    adjusted: Sequence[float | None],
    *,
    trust: Sequence[DimensionTrust],
) -> pd.DataFrame:
    """One row per judged dimension of both runs.

    Columns: layer, dimension, trust (str: of the judge; "rubric ambiguous" stands before it); n
    (paired cases); old, new (mean in scale units); difference, low, high (new minus old); lower,
    higher (cases whose score fell, rose); p, p_holm, p_exact (the last is conservative and never
    decides; p_holm counts the layers along); shown (whether the interval excludes 0, or missing);
    dropped (cases not scored in both); method, diag (str: doubts, or why there is no difference).
    """
    import pandas as pd  # heavy: only who wants a frame pays for it

    columns = ["layer", "dimension", "trust", "n", "old", "new", "difference", "low", "high",
               "lower", "higher", "p", "p_holm", "p_exact", "shown", "dropped", "method",
               "diag"]  # fmt: skip
    return pd.DataFrame.from_records(
        [
            {
                "layer": pair.layer,
                "dimension": pair.dimension,
                "trust": "; ".join(part for part in (known.rubric_state, known.state) if part),
                "n": pair.n,
                "old": sum(pair.old) / pair.n if pair.n else None,
                "new": sum(pair.new) / pair.n if pair.n else None,
                "difference": pair.difference.value,
                "low": pair.difference.low,
                "high": pair.difference.high,
                "lower": len(pair.worse),
                "higher": len(pair.better),
                "p": pair.p,
                "p_holm": p_holm,
                "p_exact": pair.p_exact,
                "shown": pair.shown,
                "dropped": len(pair.dropped),
                "method": pair.difference.method,
                "diag": "; ".join(
                    part
                    for part in (
                        pair.difference.diag or pair.difference.reason,
                        "judge = agent model" if pair.same_model else "",
                    )
                    if part
                ),
            }
            for pair, p_holm, known in zip(pairs, adjusted, trust, strict=True)
        ],
        columns=columns,
    )
