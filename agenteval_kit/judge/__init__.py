"""Judges: one dimension a call, evidence verified by code, panels decided by majority.

May not read what the checks found, and may not apply a bar.
"""

from agenteval_kit.judge.estimate import JudgeEstimate
from agenteval_kit.judge.judges import judge_digest, load_judges
from agenteval_kit.judge.parse import Parsed, parse_verdict
from agenteval_kit.judge.progress import progress_line, progress_text
from agenteval_kit.judge.replay import open_judges, replay_judges
from agenteval_kit.judge.result import JudgedDimension, JudgedSummary, judged_summary
from agenteval_kit.judge.run import JudgeResult, estimate_run, judge_run, judge_transcript
from agenteval_kit.models.asking import JudgeProgress
from agenteval_kit.models.bench import Judge, Judges

__all__ = [
    "Judge",
    "JudgeEstimate",
    "JudgeProgress",
    "JudgeResult",
    "JudgedDimension",
    "JudgedSummary",
    "Judges",
    "Parsed",
    "estimate_run",
    "judge_digest",
    "judge_run",
    "judge_transcript",
    "judged_summary",
    "load_judges",
    "open_judges",
    "parse_verdict",
    "progress_line",
    "progress_text",
    "replay_judges",
]
