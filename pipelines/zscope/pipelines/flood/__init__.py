"""A model of many TLS sessions that start at once on z/TPF: a discrete-event simulation and what follows.

Shared SSL daemons have worker threads that carry out handshakes. Before APAR PJ48040 a thread was held while
a handshake waited for the network; with it the thread is free meanwhile, and so is the ECB of the connection.
What comes out is a model and no measurement, and is labelled so wherever it is shown.
"""

from __future__ import annotations
