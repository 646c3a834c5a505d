"""The evals of instruction skills: what their folders ask of a model, read into tasks of one benchmark."""

from skilleval.catalog.bundle import EVALS
from skilleval.catalog.evals.reading import read_evals
from skilleval.catalog.evals.triggers import TriggerQuery, TriggerReading, read_triggers

__all__ = ["EVALS", "TriggerQuery", "TriggerReading", "read_evals", "read_triggers"]
