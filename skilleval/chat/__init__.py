"""Asking models: requests, completions, providers. The one way to a model, for subjects and judges alike."""
