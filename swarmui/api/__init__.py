"""The REST interface: parse, authorise, make one call, render."""
