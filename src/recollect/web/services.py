"""Objects that all requests share: settings, keys, the workspace and running conversations."""

from recollect.reader.line_blocks import mask_by_default
from recollect.redact.own_rules import use_own_rules
from recollect.web.conversations.registry import AuditLog, Conversations, RunAccess
from recollect.web.middleware import Keys
from recollect.web.settings import Settings
from recollect.workspace.secret_masks import make_mask
from recollect.workspace.served_workspace import ServedWorkspace


class Services:
    """The components of a running app, created once."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.keys = Keys(settings.port or 0)
        self.run_access = RunAccess(settings, self.keys)
        self.audit = AuditLog(settings.data_directory, settings.now)
        self.conversations = Conversations(self.audit)
        self.workspace = ServedWorkspace(
            settings.roots,
            settings.data_directory,
            settings.now,
            shows_errors=settings.shows_errors,
            is_demo=settings.is_demo,
            load_rules=settings.redaction,
        )
        self.workspace.load_redaction = settings.redaction
        use_own_rules(settings.redaction)
        self.mask = make_mask(self.workspace)
        mask_by_default(self.mask, self.mask.load_sessions)
