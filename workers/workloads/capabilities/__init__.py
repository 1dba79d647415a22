"""Capability checks: does a table access method bear what PostgreSQL promises of its tables?"""
