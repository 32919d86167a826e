"""Circles in what uses what."""

from __future__ import annotations

from collections.abc import Mapping


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Sets of nodes that all reach each other (strongly connected), the largest first. Tarjan 1972."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        number[node] = lowest[node] = len(number)
        path.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in number:
                visit(other)
                lowest[node] = min(lowest[node], lowest[other])
            elif other in path:
                lowest[node] = min(lowest[node], number[other])
        if lowest[node] == number[node]:
            start = path.index(node)
            found.append(sorted(path[start:]))
            del path[start:]

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return sorted((circle for circle in found if len(circle) > 1), key=len, reverse=True)
