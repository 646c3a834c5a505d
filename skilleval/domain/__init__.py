"""The frozen nouns of skilleval, one module a word or two of the glossary (`docs/glossary.md`).

Values that are JSON (task input, output, expected value) are kept as JSON text wherever they may be absent:
`None` means "there is none", the text `"null"` means "there is one and it is null".
"""
