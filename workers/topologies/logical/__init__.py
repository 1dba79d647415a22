"""A publisher and subscribers that apply its changes."""
