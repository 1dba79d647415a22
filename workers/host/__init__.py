"""What a plan changes on its agents' machines: applied before the servers are built, checked, reverted in any case."""
