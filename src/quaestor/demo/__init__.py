"""The whole product on synthetic evidence."""
