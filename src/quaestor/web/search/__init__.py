"""Pages of search and of single items."""
