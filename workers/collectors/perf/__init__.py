"""Where the server's processor time goes: sampled call stacks."""
