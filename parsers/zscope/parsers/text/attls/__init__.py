"""AT-TLS: reports of pasearch, policy files, and the messages that AT-TLS writes to logs."""
