"""What Sphinx reads first; the settings stand in site.py. (As overrides those of the theme would not be known.)"""

from __future__ import annotations

from lab.book.site import settings

globals().update(settings())
