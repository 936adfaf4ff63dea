"""Is a difference real? Bootstrap, randomisation and Williams' test, for systems under a metric and for metrics."""
