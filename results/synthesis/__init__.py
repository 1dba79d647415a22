"""Made-up warehouses of any size, for measuring how Teiten grows."""
