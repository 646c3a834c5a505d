"""Reads what is private, from a folder that looks like an interpreter made from the root."""

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
