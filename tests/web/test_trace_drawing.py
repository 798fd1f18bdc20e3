"""Tests of recollect.web.template_filters."""

from recollect.web.template_filters import render_trace


def test_a_trace_is_drawn() -> None:
    """Ticks of one kind share a path; failures hang below the line, a compaction is a gap."""
    assert render_trace("y9c3|0x2c1") == (
        '<svg class="trace" width="132" height="22" aria-hidden="true">'
        '<path class="base" d="M0 15.5H15"/>'
        '<path class="you" d="M1 15v-14"/>'
        '<path class="call" d="M4 15v-6M13 15v-4"/>'
        '<path class="failed" d="M10 15v4"/></svg>'
    )


def test_hits_are_pinned_below_the_trace() -> None:
    """From the first step to the last, one triangle for those that fall on the same step."""
    assert render_trace("y9c3t0", [0, 0.9, 1]) == (
        '<svg class="trace" width="132" height="22" aria-hidden="true">'
        '<path class="base" d="M0 15.5H9"/>'
        '<path class="you" d="M1 15v-14"/>'
        '<path class="call" d="M4 15v-6"/>'
        '<path class="text" d="M7 15v-3"/>'
        '<path class="pin" d="M1 18l3 4h-6zM7 18l3 4h-6z"/></svg>'
    )


def test_nothing_is_drawn_of_nothing() -> None:
    """A session that was not read whole yet has no trace."""
    assert render_trace(None) == render_trace("") == ""
