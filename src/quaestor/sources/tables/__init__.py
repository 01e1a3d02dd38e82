"""Evidence from tables: CSV, TSV and XLSX files, read by the column mapping of the study file."""

from quaestor.sources.tables.ingest import columns_of, ingest_table
from quaestor.sources.tables.settings import ColumnSettings, TableSettings

__all__ = ["ColumnSettings", "TableSettings", "columns_of", "ingest_table"]
