"""Workspaces: the files a run works on, and everybody's private copy of them."""

from swarmui.adapters.workspace.copy import CopyLimits
from swarmui.adapters.workspace.directory import Entry, WorkspaceDir
from swarmui.adapters.workspace.errors import WorkspaceError
from swarmui.adapters.workspace.inventory import Inventory, files_touched, inventory
from swarmui.adapters.workspace.prepare import prepare_attempt, prepare_base
from swarmui.adapters.workspace.promote import Promotion, promote
from swarmui.adapters.workspace.remove import remove_tree
from swarmui.adapters.workspace.source import WorkspaceMode, resolve_source

__all__ = [
    "CopyLimits",
    "Entry",
    "Inventory",
    "Promotion",
    "WorkspaceDir",
    "WorkspaceError",
    "WorkspaceMode",
    "files_touched",
    "inventory",
    "prepare_attempt",
    "prepare_base",
    "promote",
    "remove_tree",
    "resolve_source",
]
