"""What tests stand on: real servers, a real browser, whole installations."""
