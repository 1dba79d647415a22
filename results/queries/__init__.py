"""Questions to the warehouse: a package a question, its SQL beside it, frozen dataclasses out. Pages and API call the
same functions. Each says how many SQL queries it takes."""
