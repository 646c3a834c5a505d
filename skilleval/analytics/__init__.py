"""From rows to numbers: named Polars expressions, LazyFrame in, LazyFrame out."""
