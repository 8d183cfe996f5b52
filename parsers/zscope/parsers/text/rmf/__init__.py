"""RMF Postprocessor reports: CPU Activity, Partition Data, Crypto Hardware Activity, Workload Activity."""
