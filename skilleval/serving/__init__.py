"""The local page over stored runs: HTTP on loopback, read-only. It knows addresses and headers, and nothing of runs."""
