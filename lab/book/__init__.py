"""The book: docs/ as a site that needs no network, and as a PDF (`make book`; docs/testing.md has how it is checked).

The Markdown stays what a forge shows: nothing in it is for the generator. What the site needs besides is made of it:

    order.py     which pages there are, in reading order: docs/README.md says so
    stage.py     copies of the pages, in which links out of docs/ are names that the site knows
    site.py      Sphinx over the copies; whatever it warns of is an error
    extension.py what Sphinx has to know of our links
    sources.py   pages for the files and folders of the source that the book links to
    whole.py     all pages in one, and that printed by a browser: the PDF
    diagrams.py  pictures of the book from text, .svg from .dot

The pages of the reference that are made of the program itself: lab/cli/pages/reference.py.
"""
