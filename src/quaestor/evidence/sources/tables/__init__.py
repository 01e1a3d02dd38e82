"""Evidence from tables: CSV, TSV and XLSX files, read by the column mapping of the study file."""
