"""What several questions share: metrics, configurations, facets and filters, orders of levels, ids."""
