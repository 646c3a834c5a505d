"""Reads what is private, with the root shown to it as the installation of its program: it must not even start."""

from pathlib import Path

from hostile.programs.stage import managed, read_aims, say

aims = read_aims()
say(
    *managed(
        {
            "the passwords": Path("/etc/shadow").read_text,
            "a key in the home": Path(aims["home"], ".ssh", "id_rsa").read_text,
            "another skill": Path(aims["neighbour"], "skill.json").read_text,
            "the results": Path(aims["results"], "earlier", "report.json").read_text,
            "the tasks": Path(aims["tasks"]).read_text,
        }
    )
)
