"""Studies: one folder per paper, one file per study. What a file calls a Study is registered when this is imported."""

import pkgutil
from importlib import import_module

from ..lab.study import Study
from ..lab.study import studies as registry

_FOLDERS = sorted(folder.name for folder in pkgutil.iter_modules(__path__) if folder.ispkg)
for _folder in _FOLDERS:
    for _file in pkgutil.iter_modules([f"{__path__[0]}/{_folder}"]):
        _module = import_module(f".{_folder}.{_file.name}", __name__)
        for _thing in list(vars(_module).values()):
            if isinstance(_thing, Study) and _thing.id not in registry:
                registry.register(_thing.id)(_thing)
