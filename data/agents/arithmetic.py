"""Sums for a tool called calculate, worked out from the syntax tree.

May not run anything: no names, no calls, no powers, so that no text of a model is code.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable

ALLOWED = frozenset("0123456789+-*/(). ")
LONGEST = 500
"""Characters; the longest expression in the recordings has 216."""

_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_UNARY: dict[type[ast.unaryop], Callable[[float], float]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}


def calculate(expression: object) -> str:
    """Give the result, rounded to two places, or a text that begins with ``error:``.

    Numbers, ``+ - * /`` and parentheses; as in the recordings the result is a decimal number,
    like ``255.0``.
    """
    if not isinstance(expression, str) or not expression.strip():
        return "error: calculate wants an expression, like (158 + 141) * 2"
    if len(expression) > LONGEST:
        return f"error: the expression is longer than {LONGEST} characters"
    if not set(expression) <= ALLOWED:
        return "error: invalid characters in expression; use digits, + - * / and parentheses"
    try:
        value = _value(ast.parse(expression.strip(), mode="eval").body)
    except ZeroDivisionError:
        return "error: division by zero"
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        return "error: the expression cannot be worked out"
    return str(round(value, 2)) if math.isfinite(value) else "error: the result is too large"


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _BINARY[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        return _UNARY[type(node.op)](_value(node.operand))
    raise ValueError("only numbers and + - * / are worked out")
