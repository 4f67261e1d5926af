"""Worlds for other frameworks: what is trained and what is asked as files, and scores of anybody's predictions."""

from .export_card import Export as Export
from .export_card import open_export as open_export
from .export_sets import SETS as SETS
from .export_task import export as export
from .score_predictions import score as score
from .scored import ScoredPredictions as ScoredPredictions
