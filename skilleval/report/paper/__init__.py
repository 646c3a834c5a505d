"""A kit for papers: tables, figures, numbers, methods and how to make them again, as texts of files; no disk."""
