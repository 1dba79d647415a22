"""The showing: pages and API over the warehouse."""
