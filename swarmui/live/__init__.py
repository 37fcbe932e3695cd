"""Live push: a wake-up of a few bytes, and sockets that read what is past their own cursor."""
