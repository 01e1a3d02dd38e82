"""The handbook: a taxonomy as a static site that can be searched, printed and read from any folder."""
