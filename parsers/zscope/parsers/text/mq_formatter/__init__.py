"""CSV and JSON of mqsmfcsv, the public formatter of MQ's SMF records, with readers and writers."""
