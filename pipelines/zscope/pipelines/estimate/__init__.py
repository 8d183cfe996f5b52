"""What TLS costs, estimated from intervals of handshakes, megabytes and CPU time."""

from __future__ import annotations
