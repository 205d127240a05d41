"""Other tools' logs to transcripts: one file a format, one function that sniffs which it is.

May not score or change what was recorded: an oddity becomes a finding of the transcript.
"""

from agenteval_kit.importers.reading import FORMATS, detect_format, import_files

__all__ = ["FORMATS", "detect_format", "import_files"]
