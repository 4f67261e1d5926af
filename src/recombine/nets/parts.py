"""A net in three parts: arrays that are trained, arrays that are not, and everything else, which is hashable.

Arrays are named by their path in the net, such as "blocks.0.query". So the optimizer, the average and the gradient see
plain dictionaries: a frozen array is in none of them, a parameter group is a set of names, and functions inside a net
(an activation of `eqx.nn.MLP`, say) never reach a compiled program as data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..errors import UserError

if TYPE_CHECKING:
    from .base import Net

Arrays = dict[str, jax.Array]  # by path
FROZEN = "frozen"  # the group of what is not trained


class Static:
    """What is left of a net without its arrays: its structure, and the leaves that are no arrays.

    Hashable, so that compiled programs are shared by nets that differ in their arrays only.
    """

    __slots__ = ("_hash", "groups", "others", "paths", "structure")

    def __init__(self, structure: Any, paths: tuple[str, ...], others: dict[str, Any], groups: dict[str, str]):
        self.structure, self.paths = structure, paths
        self.others, self.groups = (
            others,
            groups,
        )  # by path: leaves that are no arrays; groups of those that are trained
        self._hash = hash((structure, paths, tuple(others.items()), tuple(groups.items())))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Static) or self._hash != other._hash:
            return False
        same = (self.structure, self.paths, self.others, self.groups)
        return same == (other.structure, other.paths, other.others, other.groups)


class Parts(eqx.Module):
    """A net cut into parts; `join` makes it whole. A pytree that plain `jax.jit` takes and gives.

    Args:
        trained: arrays that are trained, by path.
        frozen: arrays that are not, by path.
        static: everything else, hashable.

    Example:
        >>> parts = rc.nets.cut(trained.nets[0])
        >>> list(parts.trained)[:3], list(parts.frozen)
        (['kernels.0', 'kernels.1', 'kernels.2'], [])
    """

    trained: Arrays
    frozen: Arrays
    static: Static = eqx.field(static=True)


def cut(net: Net) -> Parts:
    """The parts of a net. What is trained is every array of real numbers whose group is not "frozen".

    Args:
        net: a net; also one by shape only, as `jax.eval_shape` gives it: a net can be grafted onto it.

    Example:
        >>> rc.nets.cut(trained.nets[0]).trained["kernels.0"].shape
        (20, 8)
    """
    leaves, structure = jax.tree.flatten_with_path(net)
    trained, frozen, others, groups, paths = {}, {}, {}, {}, []
    for path, leaf in leaves:
        name = jax.tree_util.keystr(path, simple=True, separator=".")
        if name in paths:
            raise UserError(f"{type(net).__name__} has two leaves called {name!r}; names in it must have no dots")
        paths.append(name)
        if not eqx.is_array(leaf) and not isinstance(leaf, jax.ShapeDtypeStruct):
            others[name] = leaf
            continue
        group = net.group(name, leaf) if jnp.issubdtype(leaf.dtype, jnp.inexact) else FROZEN
        if group == FROZEN:
            frozen[name] = leaf
        else:
            trained[name], groups[name] = leaf, group
    return Parts(trained, frozen, Static(structure, tuple(paths), others, groups))


def join(parts: Parts) -> Net:
    """The net that `cut` cut.

    Args:
        parts: what `cut` gave, maybe with other arrays.

    Example:
        >>> net = trained.nets[0]
        >>> type(rc.nets.join(rc.nets.cut(net))) is type(net)
        True
    """
    there = {**parts.trained, **parts.frozen, **parts.static.others}
    return jax.tree.unflatten(parts.static.structure, [there[path] for path in parts.static.paths])


def graft(fresh: Net, start: Net, what: str) -> Net:
    """`fresh` with the arrays of `start`; its own static fields stay.

    Refuses, naming the leaves that differ, where the two do not have the same arrays.

    Args:
        fresh: the net whose static fields are kept.
        start: the net whose arrays are taken.
        what: what `fresh` is called, for the refusal.

    Example:
        >>> fresh = rc.nets.MLP(width=8, depth=2).build(task, jax.random.key(7))
        >>> grafted = rc.nets.graft(fresh, trained.nets[0], "mlp")
        >>> bool((grafted.kernels[0] == trained.nets[0].kernels[0]).all())
        True
    """
    new, old = cut(fresh), cut(start)
    wanted, had = {**new.trained, **new.frozen}, {**old.trained, **old.frozen}
    unlike = [
        f"{path} {_shape(had.get(path))} -> {_shape(wanted.get(path))}"
        for path in sorted({*wanted, *had})
        if _shape(had.get(path)) != _shape(wanted.get(path))
    ]
    if unlike:
        more = f" and {len(unlike) - 3} more" if len(unlike) > 3 else ""
        raise UserError(
            f"net {what!r} cannot take over the net of the stage before, whose arrays differ: "
            f"{', '.join(unlike[:3])}{more}; a stage needs the same net, or one that wraps it"
        )
    return join(Parts({path: had[path] for path in new.trained}, {path: had[path] for path in new.frozen}, new.static))


def to_plain(leaf: Any) -> np.ndarray:
    """A leaf as numbers that a file can hold: of random keys, what they are made of."""
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    return np.asarray(leaf)


def from_plain(leaf: Any, plain: np.ndarray) -> jax.Array:
    """What `to_plain` made of a leaf, as it was; of the leaf only the shape is needed."""
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        kinds = ("threefry2x32", "rbg", "unsafe_rbg")
        impl = next(kind for kind in kinds if jax.random.key(0, impl=kind).dtype == leaf.dtype)
        return jax.random.wrap_key_data(jnp.asarray(plain), impl=impl)
    return jnp.asarray(plain, leaf.dtype)


def _shape(leaf: Any) -> str:
    return "(none)" if leaf is None else f"{leaf.dtype}{list(leaf.shape)}"


def count_parameters(net: Net) -> int:
    """The number of trained values.

    Args:
        net: a net.

    Example:
        >>> rc.nets.count_parameters(rc.nets.MLPNet((jnp.eye(3),), (jnp.ones(3),)))
        12
    """
    return sum(leaf.size for leaf in cut(net).trained.values())
