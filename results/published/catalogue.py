"""Every published table that comes with Teiten. Pure."""

from __future__ import annotations

from results.published import wg1_2012, wg1_2019, zfs_2019
from results.published.tables import Table

TABLES: tuple[Table, ...] = (*wg1_2012.TABLES, *wg1_2019.TABLES, *zfs_2019.TABLES)
