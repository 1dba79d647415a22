"""PostgreSQL on an agent: installations, clusters, servers, databases, settings."""
