"""Common names of the AT-TLS inputs, under which they are counted."""

from __future__ import annotations

PASEARCH_REPORT = "AT-TLS policy (pasearch)"
POLICY_FILE_REPORT = "AT-TLS policy (file)"
MESSAGES_REPORT = "AT-TLS messages"
