"""A study of the user's own, by where it is: `package.module:study`, or `./file.py:study`.

It is code that the user names on a command line, and it is imported as Python would. Nothing is ever imported because a
file of data names it: a store keeps the id of its study, and `--study` says again where to find it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import importlib.util
import io
import itertools
import json
import os
import signal
import sys
import threading
from collections import ChainMap
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType

from ..errors import UserError, describe, unknown
from ..files.foreign_json import json_object, require_fields
from .study import Study, studies

IMPORT_SECONDS = 60  # in which a study must be imported
OURS = Path(__file__).resolve().parents[1]


def is_reference(text: str) -> bool:
    """Whether a word says where a study is, rather than its name."""
    return ":" in text


def own_study(text: str, folder: str | None = None) -> Study:
    """The study at `text`, checked.

    folder: where relative files and modules are looked for; this one, if none is named.
    """
    where, _, name = text.rpartition(":")
    folder = os.getcwd() if folder is None else folder
    if not where or not name or not (where.endswith(".py") or all(map(str.isidentifier, where.split(".")))):
        raise UserError(f"{text!r} does not say where a study is; package.module:study or ./file.py:study would do")
    with _watched(where):
        module = _from_file(Path(folder, where)) if where.endswith(".py") else _from_module(where, folder)
    study = getattr(module, name, None)
    if not isinstance(study, Study):
        there = [key for key, value in vars(module).items() if isinstance(value, Study)]
        if study is None:
            raise unknown(f"study in {where}", name, there)
        raise UserError(f"{text} is a {type(study).__name__} and no study; {_listed(there)}")
    if studies.is_ours(study.id) and studies[study.id] is not study:
        raise UserError(
            f"{text} has the id {study.id!r}, which is a study of ours: their records would be taken for each other's; "
            f"give it another, such as 'my-{study.id}'"
        )
    require_whole(study)
    return dataclasses.replace(study, worker_arguments=(json.dumps({"study": text, "folder": folder}),))


def require_whole(study: Study) -> None:
    """Refuses a study with a claim whose control world is not there, or that varies what it does not have."""
    controls = [study.control(name) for name in study.control_names()]
    _require_options(study)
    if study.cells_of is None:
        study.specs(study.settings("laptop"), 0)
        for changes in controls:  # those of smoke scale, where they are run
            study.specs(study.settings("smoke", changes), 0)


def _require_options(study: Study) -> None:
    """Refuses to vary an option that is called almost as one the study has: its `measure` would not read it."""
    declared = study.template("laptop").get("options", {})
    for axis in itertools.chain(*study.blocks("laptop")):
        part, _, name = axis.path.partition(".")
        if part == "options" and name not in declared and difflib.get_close_matches(name, declared, cutoff=0.8):
            raise unknown("path", axis.path, [f"options.{one}" for one in declared])


def with_own(registry: Mapping[str, Study], text: str | None) -> Mapping[str, Study]:
    """The registered studies and, if one is named, a study of the user's own, by id."""
    if text is None:
        return registry
    study = own_study(text) if is_reference(text) else registry[text]
    return ChainMap({study.id: study}, registry)  # type: ignore[arg-type]  # only looked up


def from_argument(text: str) -> Study:
    """The study that a driver told its worker of."""
    fields = require_fields(json_object(text, "what a worker was told of its study"), {"study": str, "folder": str})
    return own_study(fields["study"], fields["folder"])


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise UserError(f"there is no file {path}; a study of your own is named as in ./file.py:study")
    name, text = f"recombine_own_{path.stem}", path.read_bytes()
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__recombine_text__", None) == text:
        return known  # what it registers is registered once
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    module.__recombine_text__ = text  # type: ignore[attr-defined]
    sys.modules[name] = module
    _look_in(str(path.parent.resolve()))
    try:
        spec.loader.exec_module(module)
    except BaseException as problem:
        del sys.modules[name]
        raise _not_imported(str(path), problem, str(path.parent)) from problem
    return module


def _from_module(name: str, folder: str) -> ModuleType:
    _look_in(folder)
    try:
        return import_module(name)
    except BaseException as problem:
        raise _not_imported(name, problem, folder) from problem


def _look_in(folder: str) -> None:
    if folder not in sys.path:
        sys.path.insert(0, folder)


def _not_imported(what: str, problem: BaseException, folder: str) -> BaseException:
    """One sentence on why; what is no fault of the file is passed on.

    folder: where the user's own files lie.
    """
    if isinstance(problem, SystemExit):
        return UserError(f"{what} cannot be imported: it ends the process; a study file only makes its study")
    if isinstance(problem, UserError) or not isinstance(problem, Exception):
        return problem
    if isinstance(problem, SyntaxError):
        return UserError(f"{problem.filename or what}, line {problem.lineno}: {problem.msg}")
    place = _place_of(problem, folder)
    return UserError(f"{place or what} cannot be imported: {describe(problem)}")


def _place_of(problem: BaseException, folder: str) -> str:
    """File and line of the last step that was taken in the user's own folder; "" where none was."""
    below, found, trace = Path(folder).resolve(), "", problem.__traceback__
    while trace is not None:
        path = Path(trace.tb_frame.f_code.co_filename).resolve()
        installed = "site-packages" in path.parts or path.is_relative_to(OURS)
        if path.is_relative_to(below) and path.is_file() and not installed:
            found = f"{path}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return found


@contextlib.contextmanager
def _watched(what: str) -> Iterator[None]:
    """What an import prints goes to stderr, and one that does not end is ended."""
    printed = io.StringIO()

    def late(*_: object) -> None:
        raise UserError(f"{what} was not imported within {IMPORT_SECONDS} s; work belongs into the study's `measure`")

    can_wait = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
    before = signal.signal(signal.SIGALRM, late) if can_wait else None
    try:
        if can_wait:
            signal.setitimer(signal.ITIMER_REAL, IMPORT_SECONDS)
        with contextlib.redirect_stdout(printed):
            yield
    finally:
        if can_wait:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        if printed.getvalue():
            print(f"{what} printed while it was imported:\n{printed.getvalue().rstrip()}", file=sys.stderr)


def _listed(names: list[str]) -> str:
    return f"there {'is' if len(names) == 1 else 'are'} {', '.join(names)}" if names else "there is none in it"
