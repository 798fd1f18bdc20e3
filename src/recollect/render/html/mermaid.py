"""Highlight the source of Mermaid diagrams, for which Pygments has no lexer.

Only the kind of a diagram, its keywords, labels and arrows are highlighted.
"""

from typing import ClassVar

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Operator, String, Text

_KINDS = (
    "architecture-beta block-beta C4Context classDiagram erDiagram flowchart gantt gitGraph graph "
    "journey mindmap packet-beta pie quadrantChart requirementDiagram sankey-beta sequenceDiagram "
    "stateDiagram stateDiagram-v2 timeline xychart-beta"
).split()
_KEYWORDS = (
    "activate actor alt and as autonumber axisFormat break class classDef click critical "
    "dateFormat deactivate direction else end linkStyle loop note opt over par participant rect "
    "section state style subgraph title BT LR RL TB TD"
).split()


class MermaidLexer(RegexLexer):
    """The lexer for Mermaid."""

    name = "Mermaid"
    aliases: ClassVar = ["mermaid"]
    tokens: ClassVar = {
        "root": [
            (r"%%[^\n]*", Comment.Single),
            (words(_KINDS, prefix=r"(?m)^[ \t]*", suffix=r"(?![\w-])"), Keyword.Declaration),
            (words(_KEYWORDS, prefix=r"\b", suffix=r"\b"), Keyword),
            (r'"[^"\n]*"', String),
            (r"\|[^|\n]*\|", String),
            (r"[<xo]?[-=.~]{2,}[->xo)]*|:{1,3}|[;&]", Operator),
            (r"[^\W\d]\w*", Name),
            (r"\s+|.", Text),
        ]
    }
