"""Fixtures of the pages of audits."""

from audited_table import audit as audit
from audited_table import table as table
