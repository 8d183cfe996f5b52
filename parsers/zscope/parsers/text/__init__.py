"""Reports as people keep them: captured text and XML, read into the same kind of tables as SMF records."""
