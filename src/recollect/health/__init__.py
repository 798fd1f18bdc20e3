"""How well the files on disk are understood: what is in them, what is new, what is broken."""

from recollect.health.report import DamagedPlace, Place, RefusedFile, Report
from recollect.health.sources import Inventory, Source, describe_place, take_inventory
from recollect.health.survey import survey

__all__ = [
    "DamagedPlace",
    "Inventory",
    "Place",
    "RefusedFile",
    "Report",
    "Source",
    "describe_place",
    "survey",
    "take_inventory",
]
