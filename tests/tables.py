"""What a SQLite database says of its own tables."""

import sqlite3


def definitions(database: sqlite3.Connection) -> dict[str, object]:
    """Read every table's columns and rules, and every index.

    Columns that a migration added stand last, which nothing asks for.
    """
    found: dict[str, object] = {}
    read = database.execute(
        "select type, name, sql from sqlite_master where name not like 'sqlite_%'"
    )
    for kind, name, sql in read.fetchall():
        found[f"{kind} {name}"] = rules(sql) if kind == "table" else sql
    return found


def rules(sql: str) -> list[str]:
    """Take a table's definition apart: its columns and constraints, in any order."""
    inner = sql[sql.index("(") + 1 : sql.rindex(")")]
    parts, depth, begin = [], 0, 0
    for at, sign in enumerate(inner):
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth == 0:
            parts.append(inner[begin:at].strip())
            begin = at + 1
    return sorted([*parts, inner[begin:].strip()])
