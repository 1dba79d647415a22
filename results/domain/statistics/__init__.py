"""Numbers in, numbers out: what replicates say of a difference. Pure; numpy and scipy."""
