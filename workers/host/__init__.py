"""What a plan changes on its agents' machines: set before the servers are built, checked, always reverted."""
