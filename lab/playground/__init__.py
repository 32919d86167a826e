"""./cw playground: hash functions, structures and key streams on a page that needs nothing but a browser (docs/lab/playground.md)."""
