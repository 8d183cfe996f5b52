"""How names and moments are written in inputs of all kinds, and before their lines."""

from __future__ import annotations

import re

NAME = r"[A-Z@#$][A-Z0-9@#$]{0,7}"
"""A name of z/OS: of a job, a user or a stack."""
SYSTEM = re.compile(r"[A-Z@#$][A-Z0-9@#$]{1,7}", re.ASCII)
"""The name of a system where a text can be something else: a single letter is taken for no name."""
ISO_MOMENT = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)[T ](?P<clock>\d\d:\d\d:\d\d)(?:[.,]\d{1,9})?(?P<zone>Z|[+-]\d\d:?\d\d)?"
    r"(?: (?P<host>\S+))?",
    re.ASCII,
)
"""The moment at the begin of a line of a log, and the host behind it."""
