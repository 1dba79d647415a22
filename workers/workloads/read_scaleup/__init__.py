"""Read scale-up: a count over a random range of accounts, one account, or an index alone."""
