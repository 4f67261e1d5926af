"""The worker process of the registered studies: `python -m recombine.studies.study_worker DRIVER [STUDY]`."""

from . import registry

if __name__ == "__main__":
    from ..lab.driver.worker import main

    main(registry)
