"""The loaders: each makes the tasks of a benchmark of a public file that the user brings."""

from __future__ import annotations

from collections.abc import Mapping

from skilleval.catalog.loaders.base import Loader
from skilleval.catalog.loaders.gaia import GAIA
from skilleval.catalog.loaders.toolbench import TOOLBENCH

LOADERS: Mapping[str, Loader] = {"gaia": GAIA, "toolbench": TOOLBENCH}
