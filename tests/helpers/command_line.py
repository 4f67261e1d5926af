"""Commands as a shell would run them, in this process."""

from __future__ import annotations

import pytest

from recombine.cli import main


def exit_code(*words: object) -> int:
    """What `recombine WORDS` exits with."""
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in words])
    return int(end.value.code or 0)
