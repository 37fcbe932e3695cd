"""The tree of a run as nested lists, from its skeleton."""

from typing import Any

MOST_ROWS = 2_000  # a page of plain markup; more is for the API


def outline_rows(skeleton: dict[str, Any]) -> dict[str, Any]:
    """Rows in the order of the tree with their level, as the template draws them."""
    columns = skeleton["columns"]
    nodes = [dict(zip(columns, row, strict=True)) for row in skeleton["rows"]]
    known = {node["id"] for node in nodes}
    children: dict[str | None, list[dict[str, Any]]] = {}
    for node in nodes:
        parent = node["parent"] if node["parent"] in known else None
        children.setdefault(parent, []).append(node)
    rows: list[dict[str, Any]] = []
    stack = [(node, 0) for node in reversed(children.get(None, []))]
    while stack:
        node, level = stack.pop()
        rows.append(node | {"level": level, "attempt_count": len(node["attempts"])})
        stack.extend((child, level + 1) for child in reversed(children.get(node["id"], [])))
    return {"rows": rows[:MOST_ROWS], "rest": max(0, len(rows) - MOST_ROWS)}
