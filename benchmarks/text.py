"""Text of a made-up history: prose, code and logs, in realistic sizes.

Escaped characters and letters outside ASCII are as frequent as in real histories, because both slow
decoders down.
"""

import math
import random
from collections.abc import Sequence

WORDS = """
add and branch buffer build cache call check class commit count error event field file filter first
fix flag for from function index line list load lock merge message missing model module name not
now only option output parse path project query queue read record return row run schema search
server session set should state step stream string table test that then this time token type update
user value when which with without write wrong
""".split()
_SHAPES = (
    "    {0}_{1} = {2}.{3}({4}, {5}={6})",
    "    return [{0} for {0} in {1}_{2} if {0}.{3} is not {4}]",
    "def {0}_{1}(self, {2}: {3}, {4}: {5}) -> None:",
    "        # {0} {1} {2} {3} {4} {5}, {6} {7}",
    "{0} {1} {2} {3} {4} {5} {6} {7}.",
    "{0} {1} {2}, {3} {4} {5} {6} {7} {0} {2}:",
    "src/{0}/{1}_{2}.py:120: {3} {4} {5} {6}",
    "-rw-r--r-- 1 dev dev 4096 Sep 12 10:24 {0}/{1}/{2}_{3}.ts",
    "tests/{0}/test_{1}.py::test_{2}_{3}_{4} PASSED",
    'logger.info("{0} {1} {2}: %s", {3}.{4})',
)
_OTHER_SCRIPT = "修改 {0} 函数 运行测试 {1} {2}。"
_OTHER_SHARE = 0.3
"""Texts with letters outside ASCII: in published transcripts 42 % of the bytes are near one."""
_POOL_LINES = 6000
_LINE_SIZE = 44


class Text:
    """Two pools of lines, ASCII and mixed; a text is a range of lines from one of them."""

    def __init__(self, rng: random.Random) -> None:
        self._plain = _make_pool(rng, _SHAPES)
        self._mixed = _make_pool(rng, (*_SHAPES, _OTHER_SCRIPT))

    def draw(self, rng: random.Random, size: int) -> str:
        """Return about `size` characters in whole lines."""
        pool = self._mixed if rng.random() < _OTHER_SHARE else self._plain
        start = rng.randrange(_POOL_LINES)
        return "\n".join(pool[start : start + size // _LINE_SIZE + 1])


def _make_pool(rng: random.Random, shapes: Sequence[str]) -> list[str]:
    made = [rng.choice(shapes).format(*rng.choices(WORDS, k=8)) for _ in range(_POOL_LINES)]
    # Twice, so that a range may start anywhere without wrapping around.
    return made * 2


def draw_size(rng: random.Random, median: int, sigma: float, low: int, high: int) -> int:
    """Return a log-normal size within bounds."""
    return int(min(high, max(low, rng.lognormvariate(math.log(median), sigma))))
