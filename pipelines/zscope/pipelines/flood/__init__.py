"""A model of many TLS sessions that start at once on z/TPF: a discrete-event simulation and its results.

Shared SSL daemons have worker threads that perform handshakes. Before APAR PJ48040 a thread was held while a
handshake waited for the network; with it, the thread and the ECB of the connection are free in the meantime.
The results come from a model and not from measurements, and are labelled so wherever they are shown.
"""

from __future__ import annotations
