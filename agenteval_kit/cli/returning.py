"""Commands on the way back from a run: promote a failure, publish a release.

Modules are imported inside the commands, so that each pays for its own alone.
"""

from __future__ import annotations

import argparse

from agenteval_kit.cli.codes import PASS

__all__ = ["promote"]


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
        from agenteval_kit.visible import printable

        for line in made.lines():
            print(printable(line))
    return PASS
