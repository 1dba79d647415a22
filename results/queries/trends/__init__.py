"""One metric over dates, versions or commits: families, change points, progress of a plan, watches, annotations."""
