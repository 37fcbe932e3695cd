"""Pages and htmx fragments."""
