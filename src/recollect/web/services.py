"""What every request uses: the settings, the keys, and the workspace that answers questions."""

from recollect.web.middleware import Keys
from recollect.web.settings import Settings
from recollect.workspace.served_workspace import ServedWorkspace


class Services:
    """The parts of a running app, created once."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.keys = Keys(settings.port)
        self.workspace = ServedWorkspace(
            settings.roots,
            settings.data_directory,
            settings.now,
            shows_errors=settings.shows_errors,
            is_demo=settings.is_demo,
        )
