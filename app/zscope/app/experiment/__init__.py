"""The two programs of the experiment that use the network: the client and its listener."""
