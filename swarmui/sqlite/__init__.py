"""Django's SQLite backend, with one process's writers standing in line."""
