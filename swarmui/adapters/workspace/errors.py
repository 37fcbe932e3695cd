"""What is wrong with a workspace, in words for the person who named it."""


class WorkspaceError(Exception):
    """The workspace cannot be used as asked; the message is for people."""
