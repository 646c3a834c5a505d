"""Never answers."""

from hostile.programs.stage import read_aims

read_aims()
while True:
    pass
