"""skilleval measures agent skills: config → trials → rows → statistics → report."""

__version__ = "0.1.0"
