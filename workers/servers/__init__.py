"""What topologies share: starting, reaching and stopping servers, and whether they agree."""
