"""Answers with bytes that are no text."""

import os

from hostile.programs.stage import read_aims

read_aims()
os.write(1, b'\xff\xfe\n{"jsonrpc":"2.0","id":1,"result":{"breached":false,"detail":"\xc3\x28\xf0"}}\n')
