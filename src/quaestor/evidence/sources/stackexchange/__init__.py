"""Stack Exchange data dumps: eight tables of XML rows, plain or compressed, at any size."""
