"""What topologies share: reaching servers, replicas of them, waiting until they agree."""
