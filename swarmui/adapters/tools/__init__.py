"""The tools a model worker can be given."""

from swarmui.adapters.tools.toolsets import build_tools, commands_isolated

__all__ = ["build_tools", "commands_isolated"]
