"""RMF Postprocessor reports: CPU Activity, Partition Data and Crypto Hardware Activity."""
