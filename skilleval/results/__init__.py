"""Tables of a run: the contract, the store."""
