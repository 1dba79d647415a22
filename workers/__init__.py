"""The doing: reaches agents, runs trials, reads bundles. Knows no HTTP."""
