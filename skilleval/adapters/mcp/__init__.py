"""`mcp`: calls a tool of an MCP server, which is a program in the sandbox or stands behind an address.

Only `adapter` and `options` are loaded with the registry; what needs the SDK is imported with the first skill.
"""
