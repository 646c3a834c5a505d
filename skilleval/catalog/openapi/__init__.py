"""Makes skills of an OpenAPI document: one HTTP skill an operation, each with a starter benchmark."""
