"""One synthetic SMF dump of any size and its manifest."""
