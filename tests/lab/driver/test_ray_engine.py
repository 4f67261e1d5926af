"""The engine for a cluster, as far as it can be asked without one: what a cell needs, what a node is compared with."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections import Counter

import pytest

import recombine as rc
from recombine.lab.driver.engines import Limits, parse_engine
from recombine.lab.driver.engines import ray_engine as on_ray
from recombine.lab.driver.engines.ray_actor import actor_class
from recombine.lab.driver.queue import Queue
from recombine.lab.driver.stop import Stop
from recombine.lab.record import Record
from recombine.lab.synthetic import Synthetic

GB = 1e9
SYNTHETIC = Synthetic()


def test_without_ray_one_sentence_names_the_extra(monkeypatch):
    monkeypatch.setattr(on_ray.importlib.util, "find_spec", lambda name: None)
    for word in ("ray", "ray:auto", "ray:10.0.0.1:6379"):
        with pytest.raises(rc.UserError, match=r"needs Ray, which is not installed: pip install 'recombine\[ray\]'"):
            parse_engine(word)


def test_the_address_of_a_client_is_refused(monkeypatch):
    monkeypatch.setattr(on_ray.importlib.util, "find_spec", lambda name: object())
    with pytest.raises(rc.UserError, match=r"ray://head:10001 .* run on a node of the cluster"):
        parse_engine("ray:ray://head:10001")
    assert parse_engine("ray:10.0.0.1:6379").address == "10.0.0.1:6379"


@pytest.mark.parametrize("address", ["head", "head:", ":6379", "head:x", "127.0.0.1:1", "127.0.0.1:99999"])
def test_an_address_where_nothing_listens_is_refused_at_once(address):
    with pytest.raises(rc.UserError, match=f"'{address}'"):
        on_ray._require_listener(address)


def test_a_cell_asks_for_what_it_needs():
    plain = [{"Resources": {"CPU": 4.0, "memory": 3.5 * 2**30}}, {"Resources": {"memory": 9e9}}]
    need = on_ray.needs(plain, Limits())
    assert need == {"CPU": 1.0, "memory": 2**30}
    assert [on_ray.places(node["Resources"], need) for node in plain] == [3, 0]
    assert on_ray.places(plain[0]["Resources"], on_ray.needs(plain, Limits(memory=2**31))) == 1
    mixed = [*plain, {"Resources": {"CPU": 64.0, "memory": 500 * GB, "GPU": 2.0}}]
    need = on_ray.needs(mixed, Limits())
    assert need["GPU"] == 1.0, "where there are GPUs all cells use them"
    assert [on_ray.places(node["Resources"], need) for node in mixed] == [0, 0, 2]


def test_differences_are_named_and_the_number_of_cores_is_none():
    here = {"recombine": "1.0", "jax": "0.10", "cores": "2", "XLA_FLAGS": ""}
    assert on_ray.differences(here, here | {"cores": "64"}) == {}
    found = on_ray.differences(here, here | {"jax": "0.9", "XLA_FLAGS": "--x"})
    assert found == {"jax": "jax 0.9 (here 0.10)", "XLA_FLAGS": "XLA_FLAGS --x (here none)"}


# -- a crew without a cluster ---------------------------------------------------------------------------------------
class NoRay:
    """Nodes and actors of the imagination; an actor answers at once."""

    class exceptions:
        class RayError(Exception):
            pass

    def __init__(self, nodes, facts, words):
        self.there, self.facts, self.words, self.killed, self.hired = nodes, facts, words, [], Counter()

    def remote(self, made):
        return None

    def nodes(self):
        return self.there

    def wait(self, expected, num_returns, timeout):
        return expected[:num_returns], []

    def get(self, answer):
        if isinstance(answer, Exception):
            raise answer
        return answer

    def kill(self, actor):
        self.killed.append(actor)


class ImaginedActor:
    def __init__(self, ray, node):
        self.ray, self.node = ray, node
        self.compute = self

    def options(self, **how):
        return self

    def remote(self, order):
        return iter(self.ray.words(json.loads(order)["cell"], self.node))


def node(name, cpus=1.0, alive=True):
    return {"NodeID": name, "Alive": alive, "NodeManagerAddress": name, "Resources": {"CPU": cpus, "memory": 64 * GB}}


def crew_of(monkeypatch, nodes, facts, words, count=3):
    """A crew on imagined nodes, and what it tells."""
    monkeypatch.setattr(on_ray, "LOOK_EVERY", 0.0)
    events = []
    cells = SYNTHETIC.cells(SYNTHETIC.settings("smoke", {"cells": count}), 1)
    ray, stop = NoRay(nodes, facts, words), Stop()
    crew = on_ray.Crew(ray, SYNTHETIC, Queue(SYNTHETIC, cells, stop), None, lambda *e: events.append(e), stop, Limits())

    def hire(name, need):
        ray.hired[name] += 1
        actor = ImaginedActor(ray, name)
        return on_ray.Hand(actor, name, json.dumps(facts(name)).encode())

    monkeypatch.setattr(crew, "_hire", hire)
    return crew, events


def ready(**changes):
    settings = dict.fromkeys(on_ray.SETTINGS, "") | {name: os.environ.get(name, "") for name in on_ray.SETTINGS}
    return {"event": "ready", "facts": on_ray.facts_here() | changes, "settings": settings}


def well(cell, name):
    record = Record(on_ray.Cell.from_json(cell), [{"reading": "x", "value": 1.0}], {}, {"node": name})
    yield json.dumps({"event": "memory", "bytes": 7}).encode()
    yield json.dumps({"event": "progress", "cell": "", "share": 0.5, "note": "half"}).encode()
    yield json.dumps({"event": "done", "record": record.to_bytes().decode()}).encode()


def test_every_cell_is_told_in_order(monkeypatch):
    crew, events = crew_of(monkeypatch, [node("a"), node("b")], lambda name: ready(), well)
    crew.work()
    for cell in {event[1].id: event[1] for event in events}.values():
        assert [event[0] for event in events if event[1] == cell] == ["started", "progress", "done"]
    assert len(events) == 9 and {event[2].provenance["node"] for event in events if event[0] == "done"} == {"a", "b"}
    assert not crew.hands and len(crew.ray.killed) == sum(crew.ray.hired.values()), "an actor is left"


@pytest.mark.parametrize("what", ["recombine", "code"])
def test_a_node_of_another_version_is_left_out(monkeypatch, what):
    facts = lambda name: ready(**({what: "other"} if name == "b" else {}))  # noqa: E731
    crew, events = crew_of(monkeypatch, [node("a"), node("b")], facts, well)
    with pytest.warns(UserWarning, match=f"left out: b would mix results of two versions: {what} other"):
        crew.work()
    assert {event[2].provenance["node"] for event in events if event[0] == "done"} == {"a"}
    assert crew.ray.hired["b"] == 1, "it is not asked again"
    alone, _ = crew_of(monkeypatch, [node("b"), node("head", cpus=0.0)], facts, well)
    with (
        pytest.warns(UserWarning, match="left out"),
        pytest.raises(rc.UserError, match=f"no node of the cluster can be used: b would .* {what} other"),
    ):
        alone.work()


def test_another_jax_is_said_once_and_used(monkeypatch):
    crew, events = crew_of(monkeypatch, [node("a", cpus=3.0)], lambda name: ready(jax="0.0.1"), well)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        crew.work()
    assert [str(one.message).split(" (here")[0] for one in said] == ["node a differs from here: jax 0.0.1"]
    assert sum(event[0] == "done" for event in events) == 3


def test_a_node_where_no_worker_starts_is_left_out(monkeypatch):
    ended = {"event": "ended", "code": 1, "python": "python3"}
    crew, _ = crew_of(monkeypatch, [node("a")], lambda name: ended, well)
    with (
        pytest.warns(UserWarning, match="no worker starts on a .*python3 ended with code 1.*is recombine installed"),
        pytest.raises(rc.UserError, match="no node of the cluster can be used"),
    ):
        crew.work()
    assert crew.ray.hired["a"] == on_ray.STARTS


def test_a_cell_that_loses_its_actor_runs_again_and_not_forever(monkeypatch):
    def words(cell, name):
        tries[cell["spec"]["at"]["number"]] += 1
        if cell["spec"]["at"]["number"] == 0 or (cell["spec"]["at"]["number"] == 1 and tries[1] == 1):
            yield NoRay.exceptions.RayError("the node is gone\nand more")
        yield from well(cell, name)

    tries = Counter()
    crew, events = crew_of(monkeypatch, [node("a"), node("b")], lambda name: ready(), words)
    with pytest.warns(UserWarning, match="lost an actor; what ran there runs again elsewhere"):
        crew.work()
    outcome = {n: [e[0] for e in events if e[1].spec["at"]["number"] == n and e[0] != "progress"] for n in range(3)}
    assert outcome[0] == ["started", "lost"] * (on_ray.LOSSES - 1) + ["started", "failed"]
    assert outcome[1] == ["started", "lost", "started", "done"] and outcome[2] == ["started", "done"]
    (error,) = [event[2][0] for event in events if event[0] == "failed"]
    assert error == "it lost its actor 3 times, the last time so: the node is gone"


def test_who_asks_to_stop_gets_what_runs_and_no_more(monkeypatch):
    def words(cell, name):
        crew.stop.ask()
        yield from well(cell, name)

    crew, events = crew_of(monkeypatch, [node("a")], lambda name: ready(), words)
    crew.work()
    assert [event[0] for event in events] == ["started", "progress", "done"] and len(crew.cells) == 2


def test_a_cluster_without_room_is_said_and_given_up(monkeypatch):
    monkeypatch.setattr(on_ray, "SAY_AFTER", 0.0)
    monkeypatch.setattr(on_ray, "GIVE_UP_AFTER", 0.2)
    crew, _ = crew_of(monkeypatch, [node("head", cpus=0.0)], lambda name: ready(), well)
    with (
        pytest.warns(UserWarning, match="3 cells wait for a node with 1 CPU, 1.1 GB for a cell"),
        pytest.raises(rc.UserError, match="no node of the cluster has 1 CPU, 1.1 GB"),
    ):
        crew.work()


# -- an actor --------------------------------------------------------------------------------------------------------
WORKER = """
import json, os, signal, sys, time
say = lambda **event: print(json.dumps(event), flush=True)
say(event="ready")
for line in sys.stdin:
    order = json.loads(line)
    if order.get("about"):
        say(event="about", facts={"python": "3"})
        continue
    for step in range(3):
        say(event="progress", cell="", share=step / 3, note="")
    if order["cell"] == "kill":
        print("half a li", end="", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    elif order["cell"] == "leave":
        os._exit(0)
    elif order["cell"] == "hang":
        time.sleep(600)
    elif order["cell"] == "grow":
        kept = b"x" * (100 << 20)
        time.sleep(600)
    say(event="failed" if order["cell"] == "raise" else "done", error="as planted", traceback="")
"""


def test_an_actor_outlives_its_workers(tmp_path, monkeypatch):
    (tmp_path / "small_worker.py").write_text(WORKER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    actor = actor_class()("small_worker", (), 4.0, 40 << 20)
    first = json.loads(actor.start(ask=True))
    assert first["event"] == "ready" and set(first["settings"]) == set(on_ray.SETTINGS)
    last, workers = {}, []
    for number, cell in enumerate(["well", "raise", "kill", "well", "leave", "grow", "hang", "well"]):
        order = json.dumps({"cell": cell, "checkpoint": None, "proof": None}).encode()
        before = actor.process and actor.process.pid
        *_, word = actor.compute(order)
        last[number] = json.loads(word)
        workers.append(actor.process.pid if actor.process else before)
    actor.end()
    assert [word["event"] for word in last.values()] == ["done", *["failed"] * 2, "done", *["failed"] * 3, "done"]
    assert [word["error"] for word in last.values() if word["event"] == "failed"] == [
        "as planted",
        "its process ended with code -9 (SIGKILL) and no result",
        "its process ended with code 0 and no result",
        "it took more memory than the limit of 42 MB",
        "it took longer than the limit of 4 s",
    ]
    one, two, last_one = (workers[i] for i in (0, 3, 7))
    assert workers == [one, one, one, two, two, None, None, last_one], "a new worker only after one that ended"
    assert len({one, two, last_one}) == 3


def test_an_actor_says_how_a_worker_ended_that_could_not_start():
    word = json.loads(actor_class()("no_such_module_anywhere", (), None, None).start(ask=True))
    assert word == {"event": "ended", "code": 1, "python": sys.executable}


def test_checkpoints_go_only_where_the_folder_is_seen(tmp_path):
    (tmp_path / "store.json").write_text("{}")
    actor = actor_class()("no_module", (), None, None)
    proof = on_ray._proof(tmp_path / "checkpoints")
    assert actor.visible({"checkpoint": "x", "proof": proof}) == "x"
    (tmp_path / "store.json").write_text("{ }")
    assert actor.visible({"checkpoint": "x", "proof": proof}) is None, "another folder of that name"
    assert actor.visible({"checkpoint": "x", "proof": {"path": str(tmp_path / "no"), "sha256": ""}}) is None
    assert on_ray._proof(None) is None and on_ray._proof(tmp_path / "no" / "checkpoints") is None
