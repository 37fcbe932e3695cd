"""Adding people: an account with a role and, at first, without a password. Source: domain §9."""

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from swarmui.models import Membership, Role


def add_person(name: str, role: Role) -> User:
    """A new person with this role, who signs in by link until a password is set.

    Raises ValueError: the name is taken, or is none.
    """
    user = User(username=User.normalize_username(name))
    user.set_unusable_password()
    try:
        user.clean_fields()
    except ValidationError as error:
        raise ValueError(f"name {name!r}: {' '.join(error.messages)}") from None
    try:
        with transaction.atomic():
            user.save()
            Membership.objects.create(user=user, role=role)
    except IntegrityError:
        raise ValueError(f"there is a person called {name!r} already") from None
    return user


def find_person(name: str) -> User:
    """The active person of this name. Raises ValueError when there is none."""
    user = User.objects.filter(username=name, is_active=True).first()
    if user is None:
        raise ValueError(f"there is no person called {name!r}")
    return user
