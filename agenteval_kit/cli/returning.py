"""Commands on the way back from a run: promote a failure, publish a release.

Modules are imported inside the commands, so that each pays for its own alone.
"""

from __future__ import annotations

import argparse

from agenteval_kit.cli.codes import PASS
from agenteval_kit.cli.complaints import complain, tell
from agenteval_kit.cli.deciding import gated

__all__ = ["promote", "publish"]


def promote(given: argparse.Namespace) -> int:
    """A record becomes a draft of a case."""
    from agenteval_kit.suite.promote import promote_case

    made = promote_case(
        given.run,
        given.case,
        layer=given.layer,
        repeat=given.repeat,
        suite=given.suite,
        name=given.id,
    )
    if given.json:
        from agenteval_kit.files import canonical_json

        print(canonical_json(made.as_dict()))
    else:
        for line in made.lines():
            tell(line)
    return PASS


def publish(given: argparse.Namespace) -> int:
    """A run becomes a release, with what the gate says of it now."""
    from agenteval_kit.gate import decide, read_known
    from agenteval_kit.runs import publish_run

    run, bar, baseline = gated(given)
    known = read_known(run, calibration=given.calibration, labels=given.labels)
    trust = known.trust(run, bar.bar.trust)
    decision = decide(run, bar, baseline=baseline, trust=trust, labels=known.labels)
    made = publish_run(
        run,
        by=given.by,
        verdict=decision.verdict,
        bar_digest=decision.bar_digest,
        name=given.name,
        baseline=baseline,
    )
    against = f", against {baseline.id}" if baseline is not None else ", against no baseline"
    tell(
        f"{made.name}: {run.path} is published by {made.by}; the gate says {made.verdict} "
        f"(bar {made.bar_digest}){against}"
    )
    if made.verdict != "SHIP":
        complain(f"note: a release on {made.verdict}; it is a baseline all the same")
    return PASS
