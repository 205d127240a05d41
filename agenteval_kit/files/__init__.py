"""JSON Lines and YAML, read strictly, with file and line in each complaint; and digests.

May not know what the rows mean: that is the business of whoever reads them.
"""

from agenteval_kit.files.items import Item, first_item, read_items
from agenteval_kit.files.json_files import Row, read_json, read_jsonl, read_record
from agenteval_kit.files.texts import (
    bytes_digest,
    canonical_json,
    digest,
    file_digest,
    read_text,
    text_digest,
)
from agenteval_kit.files.writing import Appender, hold, repair_tail, write_atomic, write_together
from agenteval_kit.files.yaml_files import Document, read_yaml

__all__ = [
    "Appender",
    "Document",
    "Item",
    "Row",
    "bytes_digest",
    "canonical_json",
    "digest",
    "file_digest",
    "first_item",
    "hold",
    "read_items",
    "read_json",
    "read_jsonl",
    "read_record",
    "read_text",
    "read_yaml",
    "repair_tail",
    "text_digest",
    "write_atomic",
    "write_together",
]
