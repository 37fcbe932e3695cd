"""Running programs that nobody vouches for."""

from swarmui.adapters.sandbox.probe import SandboxProbe, probe
from swarmui.adapters.sandbox.result import CommandResult, Isolation
from swarmui.adapters.sandbox.run import run_argv

__all__ = ["CommandResult", "Isolation", "SandboxProbe", "probe", "run_argv"]
