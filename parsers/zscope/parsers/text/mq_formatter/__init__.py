"""CSV and JSON of mqsmfcsv, the public formatter of MQ's SMF records: read into the tables of the records."""
