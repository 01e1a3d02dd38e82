"""Evidence at rest: Parquet with its manifest, the engine that queries it, the funnel and sampling."""
