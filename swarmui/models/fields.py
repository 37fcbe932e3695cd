"""Column helpers shared by the models."""

import uuid
from collections.abc import Iterable
from enum import StrEnum

from django.db import models
from uuid6 import uuid7


def new_id() -> uuid.UUID:
    """A time-ordered id, so that keys and pages follow the order of creation."""
    return uuid.UUID(int=uuid7().int)


def choices(enum: type[StrEnum]) -> list[tuple[str, str]]:
    """A domain vocabulary as Django choices; the vocabulary itself exists once, in `verifier`."""
    return [(member.value, member.value.replace("_", " ")) for member in enum]


def word_column(enum: type[StrEnum], **options: object) -> "models.CharField[str, str]":
    """A column that holds one word of a vocabulary."""
    return models.CharField(max_length=24, choices=choices(enum), **options)  # type: ignore[arg-type]


def one_of(column: str, words: Iterable[str], name: str) -> models.CheckConstraint:
    """The database's own copy of a vocabulary."""
    return models.CheckConstraint(condition=models.Q(**{f"{column}__in": sorted(words)}), name=name)
