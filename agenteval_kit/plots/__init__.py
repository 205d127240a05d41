"""Figures from frames: intervals on every estimate, n in the label, a title that says the finding.

May not compute a statistic, nor read a run: frames come in, plotly figures go out.
"""

from agenteval_kit.plots.agreement import plot_agreement
from agenteval_kit.plots.layers import plot_differences, plot_layers
from agenteval_kit.plots.lengths import plot_lengths
from agenteval_kit.plots.runs import plot_repeats, plot_trend
from agenteval_kit.plots.verdicts import plot_verdicts

__all__ = [
    "plot_agreement",
    "plot_differences",
    "plot_layers",
    "plot_lengths",
    "plot_repeats",
    "plot_trend",
    "plot_verdicts",
]
