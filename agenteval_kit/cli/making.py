"""Commands that bring things in and start things: import, new, doctor.

Modules are imported inside the commands, so that each pays for its own alone.
"""

from __future__ import annotations

import argparse

from agenteval_kit.cli.codes import BROKEN, PASS
from agenteval_kit.cli.complaints import complain, tell
from agenteval_kit.cli.outputs import require_apart
from agenteval_kit.errors import ConfigError, did_you_mean
from agenteval_kit.text import counted

__all__ = ["doctor", "import_", "new", "withdraw"]


def import_(given: argparse.Namespace) -> int:
    """Other tools' logs to transcripts."""
    from agenteval_kit.files import Appender
    from agenteval_kit.importers import import_files
    from agenteval_kit.records import AgentStamps

    if (given.model is None) != (given.prompt is None):
        raise ConfigError("--model and --prompt are stamps that belong together; give both")
    if given.model is not None and not (given.model.strip() and given.prompt.strip()):
        raise ConfigError("--model or --prompt is blank; name the versions that made the logs")
    require_apart("--out", given.out)
    if given.out.exists():
        raise ConfigError(f"{given.out}: is there already; name another file")
    stamps = AgentStamps(model=given.model, prompt=given.prompt) if given.model else None
    made = list(import_files(given.files, format=given.format, stamps=stamps))
    if not made:
        raise ConfigError("nothing was imported: the files hold no transcript")
    appender = Appender(given.out)
    appender.append_lines(item.model_dump_json(exclude_defaults=True) for item in made)
    appender.close()
    if any(item.stamps is None for item in made):
        complain(
            "note: no stamps were given (--model, --prompt); who checks these transcripts is asked "
            "who made them"
        )
    failed = sum(item.failure is not None for item in made)
    tell(f"{counted(len(made), 'transcript')}, {failed:,} of them with a failure: {given.out}")
    return PASS


def withdraw(given: argparse.Namespace) -> int:
    """Take a person's data out of a run, and out of folders of labels."""
    from agenteval_kit.labels import (
        names_of_run,
        read_labels,
        transcript_digest,
        withdraw_labels,
    )
    from agenteval_kit.runs import Run, now_text

    run = Run.open(given.run)
    known = {case.id for case in run.info.cases}
    if given.case not in known:
        near = did_you_mean(given.case, known)
        raise ConfigError(f'{run.path}: has no case "{given.case}".{near}')
    for folder in given.labels:
        if not folder.is_dir():
            raise ConfigError(f"{folder}: there is no such folder of labels")
    # The run comes last: where somebody is labelling, the same command is given again later.
    texts = {transcript_digest(one) for one in run.transcripts() if one.case_id == given.case}
    for folder in given.labels:
        rows = read_labels(folder).rows
        lines = sum(
            withdraw_labels(
                folder,
                names_of_run(rows, (run.id, run.info.id), transcripts=run.transcripts()),
                case_id=given.case,
                texts=texts,
                by=given.by,
                reason=given.reason,
                at=now_text(),
            ).values()
        )
        tell(f"{counted(lines, 'line')} of {given.case} removed from {folder}; noted in withdrawn/")
        left = [row.run for row in read_labels(folder).rows if row.case_id == given.case]
        if left:
            complain(
                f"note: {counted(len(left), 'line')} of a case of that name in {folder} "
                f"{'is' if len(left) == 1 else 'are'} of other runs and "
                f"{'stays' if len(left) == 1 else 'stay'}: {', '.join(sorted(set(left)))}"
            )
    removed = run.withdraw(given.case, by=given.by, reason=given.reason)
    tell(
        f"{counted(removed, 'row')} of {given.case} removed from {run.path}; noted in "
        "withdrawn.jsonl"
    )
    labels = "" if given.labels else ", labels (--labels)"
    apart = f"Other runs{labels}, reports and calibrations"
    tell(f"{apart} that hold the case are withdrawn apart")
    return PASS


def new(given: argparse.Namespace) -> int:
    """A new suite that works."""
    from agenteval_kit.scaffold import new_suite

    for path in new_suite(given.name, given.folder):
        tell(str(path))
    return PASS


def doctor(given: argparse.Namespace) -> int:
    """What is wrong here, and its remedy."""
    from agenteval_kit.scaffold import doctor as examine

    findings = examine()
    for finding in findings:
        tell(str(finding))
    return BROKEN if any(finding.level == "broken" for finding in findings) else PASS
