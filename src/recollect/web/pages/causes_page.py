"""`/usage/causes`: why tokens were spent, and the messages of each cause."""

from typing import Annotated

from markupsafe import Markup
from msgspec import Meta, Struct

from recollect.documents.usage_report import CauseDocument, CauseRow
from recollect.usage.causes import LONG_CONTEXT, Cause
from recollect.web.api.usage_endpoints import CauseParameters, report_causes
from recollect.web.charts import draw_share
from recollect.web.services import Services
from recollect.web.templating import PageContent, Translator

Text = Annotated[str, Meta(max_length=500)]
Day = Annotated[str, Meta(max_length=20)]


class CausesPageParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Filters; an empty form value does not filter."""

    since: Day = ""
    until: Day = ""
    project: Text = ""
    model: Text = ""
    timezone: Annotated[str, Meta(max_length=100)] = ""
    cause: Cause | None = None

    @property
    def filters(self) -> dict[str, str]:
        """The filters that are set, for links."""
        names = ("since", "until", "project", "model", "timezone")
        return {name: value for name in names if (value := getattr(self, name))}


class CauseLine(Struct, frozen=True, kw_only=True):
    """A cause as a line of the panel."""

    row: CauseRow
    name: str
    meaning: str
    bar: Markup


class CausesPage(Struct, frozen=True, kw_only=True):
    """The causes, and the messages of one of them."""

    wanted: CausesPageParameters
    report: CauseDocument
    lines: tuple[CauseLine, ...]


def render_causes_page(
    services: Services, wanted: CausesPageParameters, translator: Translator
) -> PageContent:
    """Render the causes."""
    report = report_causes(
        services,
        CauseParameters(
            since=wanted.since or None,
            until=wanted.until or None,
            project=wanted.project,
            model=wanted.model,
            timezone=wanted.timezone or None,
            cause=wanted.cause,
        ),
    )
    most = max((row.share or 0 for row in report.rows), default=0)
    lines = (
        CauseLine(
            row=row,
            name=translator(f"cause.{row.cause}"),
            meaning=translator(f"cause.why_{row.cause}", limit=f"{LONG_CONTEXT // 1000}K"),
            bar=draw_share(row.share, most),
        )
        for row in report.rows
    )
    page = CausesPage(wanted=wanted, report=report, lines=tuple(lines))
    return PageContent("causes.html", page, title="cause.title", section="usage")
