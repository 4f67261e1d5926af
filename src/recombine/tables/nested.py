"""Nested columns by dots: a record in a cell, {"meta": {"weather": "snow"}}, becomes the column meta.weather.

Lists stay what they are. Keys and fields of the user's are bound (JSON pointers, names of fields); columns are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import UserError
from ..labels import quoted
from .base import Column, Source, named, refuse_wide, sql_column

_DEEPEST = 8  # records inside each other; what lies deeper stays one column


def json_columns(
    source: Source, relation: str, json: str, parameters: dict[str, Any]
) -> tuple[list[Column], list[str]]:
    """The columns of JSON objects, one per path to a value, and what there is to say about their names.

    Args:
        source: where statements run.
        relation: SQL of a table with one object per row.
        json: the column of the objects.
        parameters: of the relation.
    """
    found: dict[tuple[str, ...], set[str]] = {}
    paths: list[tuple[str, ...]] = [()]
    for depth in range(_DEEPEST):
        if not paths:
            break
        objects = f"{relation}, (SELECT unnest(range(1, {len(paths) + 1})) AS p)"
        pointers = parameters | {"pointers": [_pointer(path) for path in paths]}
        # keys are counted before their types are asked: an object is carried once per key there
        keys = f"SELECT DISTINCT p, unnest(json_keys({json}, $pointers[p])) AS k FROM {objects}"
        ((count,),) = source.run(f"SELECT count(*) FROM ({keys})", pointers).fetchall()
        refuse_wide(source.name, len(found) + count)
        rows = source.run(
            f"SELECT p, k, list(DISTINCT json_type({json}, $pointers[p] || '/' || replace(replace(k, '~', '~0'), "
            f"'/', '~1'))) FROM (SELECT {json}, p, unnest(json_keys({json}, $pointers[p])) AS k FROM {objects}) "
            "GROUP BY p, k ORDER BY p, k",
            pointers,
        ).fetchall()
        inside = []
        for number, key, types in rows:
            path = (*paths[number - 1], key)
            found[path] = {one for one in types if one and one != "NULL"}
            if found[path] == {"OBJECT"} and depth < _DEEPEST - 1:
                del found[path]
                inside.append(path)
        refuse_wide(source.name, len(found) + len(inside))
        paths = inside
    order = sorted(found)
    names, notes = named(source.name, [_dotted(source, path, found) for path in order])
    columns = []
    for i, path in enumerate(order):
        sql = f"json_extract_string({json}, $p{i})"
        columns.append(Column(names[i], _json_kind(found[path]), sql, {f"p{i}": _pointer(path)}))
    return columns, notes


def _pointer(path: Sequence[str]) -> str:
    return "".join(f"/{key.replace('~', '~0').replace('/', '~1')}" for key in path)


def _dotted(source: Source, path: tuple[str, ...], found: Any) -> str:
    """The name of a nested value, unless another one has the same."""
    name = ".".join(path)
    if len(path) > 1 and any(other != path and ".".join(other) == name for other in found):
        raise UserError(
            f"{source.name} has two values called {quoted(name)}: a key with a dot, and one inside a record; rename "
            "the key"
        )
    return name


def _json_kind(found: set[str]) -> str:
    if found & {"ARRAY", "OBJECT"}:
        return "nested"
    if found and found <= {"UBIGINT", "BIGINT", "HUGEINT", "UHUGEINT"}:
        return "number"
    return "decimal" if found and found <= {"UBIGINT", "BIGINT", "DOUBLE"} else "text"


def struct_columns(
    source: Source, relation: str, parameters: dict[str, Any], columns: list[Column], described: list[tuple]
) -> list[Column]:
    """Columns in which every record is replaced by its fields.

    Args:
        source: where statements run.
        relation: SQL of the table.
        parameters: of the relation.
        columns: those of the table.
        described: what DuckDB says of each: its name and its type.
    """
    found: list[Column] = []
    names = {column.name for column in columns}

    def add(name: str, sql: str, type_name: str, depth: int) -> None:
        if not _is_record(type_name) or depth >= _DEEPEST:
            found.append(sql_column(name, sql, type_name))
            return
        fields = source.run(f"DESCRIBE SELECT unnest({sql}) FROM {relation}", parameters).fetchall()
        for field, kind, *_ in fields:
            inner = f"{name}.{field}"
            if inner in names:
                raise UserError(
                    f"{source.name} has two columns called {quoted(inner)}: one with a dot, and one inside a record; "
                    "rename the first"
                )
            add(inner, f"struct_extract({sql}, {_literal(field)})", str(kind), depth + 1)

    for column, (there, type_name, *_) in zip(columns, described, strict=True):
        if _is_record(str(type_name)):
            quoted_name = '"' + there.replace('"', '""') + '"'
            add(column.name, quoted_name, str(type_name), 1)
        else:
            found.append(column)
    refuse_wide(source.name, len(found))
    named(source.name, [column.name for column in found])
    return found


def _is_record(type_name: str) -> bool:
    return type_name.startswith("STRUCT(") and type_name.endswith(")")


def _literal(field: str) -> str:
    """A name of a field as SQL text: DuckDB takes no parameter there while it finds types."""
    return "'" + field.replace("'", "''") + "'"
