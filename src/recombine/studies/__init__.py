"""Studies: one file a claim of the field. Importing this registers them."""

from ..lab.study import studies as registry  # noqa: F401
from . import audit_transfer as audit_transfer
from . import audit_truth as audit_truth
from . import beyond as beyond
from . import data_efficiency as data_efficiency
from . import decodability as decodability
from . import encodings as encodings
from . import factorized_fails as factorized_fails
from . import phase as phase
from . import plan_saves_data as plan_saves_data
from . import re_entanglement as re_entanglement
from . import render as render
from . import required_tasks as required_tasks
from . import scaling_data as scaling_data
from . import scaling_model as scaling_model
from . import stripes as stripes
from . import superposition as superposition
from . import supports as supports
from . import tuning_curves as tuning_curves
