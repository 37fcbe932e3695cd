"""How a program ended, in the numbers a shell uses."""


def exit_code_of(returncode: int) -> int:
    """The exit code; 128 + n for a program that died of signal n."""
    return returncode if returncode >= 0 else 128 - returncode
