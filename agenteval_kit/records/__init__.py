"""What is read from files or models, as frozen records that forbid unknown keys.

May not touch a file: `agenteval_kit.files` reads, this package says what the rows mean.
"""

from agenteval_kit.records.bars import (
    Bar,
    PassRateClause,
)
from agenteval_kit.records.cases import (
    CHECK_KEYS,
    LAYERS,
    Approval,
    Asks,
    AsksAfterGiven,
    Case,
    Checks,
    CitedIds,
    ForbiddenPattern,
    MustRefuse,
    PythonCheck,
    Scenario,
    SimulatedUser,
    UserSpec,
)
from agenteval_kit.records.messages import parse_messages
from agenteval_kit.records.preferences import ComparisonStamp, OrderRecord, PreferenceRow
from agenteval_kit.records.rows import CheckRow
from agenteval_kit.records.rubrics import Dimension, Rubric
from agenteval_kit.records.suites import AgentSpec, JudgeSpec, SourcesSpec, SuiteFile
from agenteval_kit.records.transcripts import (
    FINDINGS,
    STOP_REASONS,
    AgentStamps,
    Event,
    Failure,
    Finding,
    Source,
    ToolCall,
    Transcript,
    Turn,
    Usage,
)
from agenteval_kit.records.verdicts import JudgeStamp, SeatRecord, VerdictRow

__all__ = [
    "CHECK_KEYS",
    "FINDINGS",
    "LAYERS",
    "STOP_REASONS",
    "AgentSpec",
    "AgentStamps",
    "Approval",
    "Asks",
    "AsksAfterGiven",
    "Bar",
    "Case",
    "CheckRow",
    "Checks",
    "CitedIds",
    "ComparisonStamp",
    "Dimension",
    "Event",
    "Failure",
    "Finding",
    "ForbiddenPattern",
    "JudgeSpec",
    "JudgeStamp",
    "MustRefuse",
    "OrderRecord",
    "PassRateClause",
    "PreferenceRow",
    "PythonCheck",
    "Rubric",
    "Scenario",
    "SeatRecord",
    "SimulatedUser",
    "Source",
    "SourcesSpec",
    "SuiteFile",
    "ToolCall",
    "Transcript",
    "Turn",
    "Usage",
    "UserSpec",
    "VerdictRow",
    "parse_messages",
]
