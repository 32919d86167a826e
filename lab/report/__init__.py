"""Reports: what the results of an experiment say, beside what its paper says, as text, CSV, JSON and one HTML page."""
