"""One table, five formats: each shows the same numbers, and where it can, opens the items behind them."""

from quaestor.publish.tables.delimited import to_csv
from quaestor.publish.tables.files import write_table
from quaestor.publish.tables.html import STYLE, html_page, to_html
from quaestor.publish.tables.latex import latex_document, to_latex
from quaestor.publish.tables.layout import Link
from quaestor.publish.tables.markdown import to_markdown
from quaestor.publish.tables.workbook import to_xlsx

__all__ = [
    "STYLE",
    "Link",
    "html_page",
    "latex_document",
    "to_csv",
    "to_html",
    "to_latex",
    "to_markdown",
    "to_xlsx",
    "write_table",
]
