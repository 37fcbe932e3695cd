"""The world outside the database: models, tools, programs, files. Nothing here knows the ORM."""
