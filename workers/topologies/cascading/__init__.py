"""A primary, one standby that streams from it, and standbys that stream from that one."""
