"""The report as one HTML page: charts.py draws, page.py fills page.html in."""
