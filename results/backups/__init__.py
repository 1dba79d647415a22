"""Backups of everything that Teiten stores: the warehouse and the raw files that it names, and the way back.

`writing` makes one, `verifying` reads it again, `restoring` puts it into an empty warehouse and bundle folder.
"""
