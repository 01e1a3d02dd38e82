"""Commands of interviews."""
