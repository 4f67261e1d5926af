"""Runs what others made on tables in a folder: needs nothing of recombine, and an environment of its own.

    python run_rivals.py FOLDER      reads FOLDER/*.json, writes FOLDER/found.json

Each table is {"rows": levels of each answer, "wrong": 0 or 1, "causes": how many there are, "asked": combinations}.
Rivals that find patterns are told how many causes there are, which users do not know.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas

warnings.simplefilter("ignore")


def sliceline(table: pandas.DataFrame, wrong: np.ndarray, causes: int) -> list[dict]:
    from sliceline.slicefinder import Slicefinder

    found = Slicefinder(alpha=0.95, k=causes, max_l=3, min_sup=10, verbose=False).fit(table.to_numpy(), wrong)
    return [{i: int(v) for i, v in enumerate(row) if v is not None} for row in found.top_slices_]


def pysubgroup(table: pandas.DataFrame, wrong: np.ndarray, causes: int) -> list[dict]:
    import pysubgroup as ps

    data = table.astype(str).assign(wrong=wrong.astype(bool))
    target = ps.BinaryTarget("wrong", True)
    space = ps.create_nominal_selectors(data, ignore=["wrong"])
    task = ps.SubgroupDiscoveryTask(data, target, space, result_set_size=causes, depth=3, qf=ps.WRAccQF())
    results = ps.BeamSearch(beam_width=50).execute(task).results
    return [{int(one.attribute_name[1:]): int(one.attribute_value) for one in rule.selectors} for _, rule, _ in results]


def divexplorer(table: pandas.DataFrame, wrong: np.ndarray, causes: int) -> list[dict]:
    from divexplorer import DivergenceExplorer

    data = table.astype(str).assign(wrong=wrong)
    found = DivergenceExplorer(data).get_pattern_divergence(
        min_support=max(10 / len(data), 0.005),
        attributes=list(table),
        boolean_outcomes=["wrong"],
    )
    found = found[(found.length > 0) & (found.length <= 3)]
    found = found.assign(score=found["wrong_t"].abs() * np.sign(found["wrong_div"]))
    top = found.sort_values("score", ascending=False).head(causes)
    return [{int(i.split("=")[0][1:]): int(i.split("=")[1]) for i in itemset} for itemset in top.itemset]


def boosted(table: pandas.DataFrame, wrong: np.ndarray, asked: pandas.DataFrame) -> np.ndarray:
    from interpret.glassbox import ExplainableBoostingClassifier

    model = ExplainableBoostingClassifier(feature_types=["nominal"] * table.shape[1], random_state=0, n_jobs=1)
    return model.fit(table.astype(str), wrong).predict_proba(asked.astype(str))[:, 1]


def logistic(table: pandas.DataFrame, wrong: np.ndarray, asked: pandas.DataFrame) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures

    pairs = PolynomialFeatures(2, interaction_only=True, include_bias=False)
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), pairs, LogisticRegression(max_iter=500))
    return model.fit(table, wrong).predict_proba(asked)[:, 1]


def main(folder: Path) -> None:
    found: dict[str, dict] = {}
    for path in sorted(folder.glob("table-*.json")):
        data = json.loads(path.read_text())
        names = [f"f{i}" for i in range(len(data["rows"][0]))]
        table, wrong = pandas.DataFrame(data["rows"], columns=names), np.array(data["wrong"])
        own = found[path.stem] = {}
        for rival in (sliceline, pysubgroup, divexplorer):
            own[rival.__name__] = _timed(lambda: rival(table, wrong, data["causes"]))  # noqa: B023
        asked = pandas.DataFrame(data["asked"], columns=names)
        for rival in (boosted, logistic):
            own[rival.__name__] = _timed(lambda: rival(table, wrong, asked).tolist())  # noqa: B023
        print(path.stem, flush=True)
    (folder / "found.json").write_text(json.dumps(found))


def _timed(work) -> dict:
    began = time.process_time()
    try:
        return {"found": work(), "seconds": time.process_time() - began}
    except Exception as problem:  # a rival that stops is shown as such, and says nothing of the others
        return {"error": f"{type(problem).__name__}: {problem}"[:200]}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
