"""How many cases, how many labels, at what cost, and would an unchanged agent pass the bar.

May not run or judge anything: every answer says what it assumes and how it was made.
"""

from agenteval_kit.plan.behaviour import Behaviour, assumed_behaviour, observed_behaviour
from agenteval_kit.plan.cases import CasesNeeded, cases_table, plan_cases
from agenteval_kit.plan.chances import ClauseChance, ShipChance
from agenteval_kit.plan.costs import JudgeCost, plan_costs
from agenteval_kit.plan.judged import observed_judging
from agenteval_kit.plan.labels import LabelsNeeded, labels_table, plan_labels
from agenteval_kit.plan.result import Plan
from agenteval_kit.plan.ship import chance_to_ship
from agenteval_kit.plan.spread import (
    Spread,
    assumed_spreads,
    spread_of_changes,
    spread_of_repeats,
    spread_of_runs,
)
from agenteval_kit.plan.suite import plan_suite

__all__ = [
    "Behaviour",
    "CasesNeeded",
    "ClauseChance",
    "JudgeCost",
    "LabelsNeeded",
    "Plan",
    "ShipChance",
    "Spread",
    "assumed_behaviour",
    "assumed_spreads",
    "cases_table",
    "chance_to_ship",
    "labels_table",
    "observed_behaviour",
    "observed_judging",
    "plan_cases",
    "plan_costs",
    "plan_labels",
    "plan_suite",
    "spread_of_changes",
    "spread_of_repeats",
    "spread_of_runs",
]
