"""Who may do what: one table, the same for pages, API and sockets.

Source: domain §9. Viewers look; operators start and steer; reviewers decide; admins rule.
A person without a membership is a viewer; a superuser is an admin.
"""

from dataclasses import dataclass
from enum import StrEnum

from django.contrib.auth.models import AnonymousUser, User

from swarmui.models import ApiToken, Membership, Role


class Action(StrEnum):
    """What a role can be asked for."""

    SEE_RUNS = "see runs"
    START_RUN = "start a run"


ALLOWED: dict[Action, frozenset[Role]] = {
    Action.SEE_RUNS: frozenset(Role),
    Action.START_RUN: frozenset({Role.OPERATOR, Role.ADMIN}),
}


@dataclass(frozen=True)
class Actor:
    """Who is asking: a signed-in person, or a service that holds a token.

    `user` is who answers for it: the person, or who made the token (None: made at the console).
    `origin` names the actor in records and tells two actors apart.
    """

    role: Role
    user: User | None
    origin: str
    is_person: bool

    def may(self, action: Action) -> bool:
        return self.role in ALLOWED[action]


def role_of(user: User | AnonymousUser) -> Role | None:
    """The role of a signed-in, active person; None for anybody else."""
    if not user.is_authenticated or not user.is_active:
        return None
    if user.is_superuser:
        return Role.ADMIN
    role = Membership.objects.filter(user=user).values_list("role", flat=True).first()
    return Role(role) if role else Role.VIEWER


def actor_of_user(user: User | AnonymousUser) -> Actor | None:
    """The person as an actor; None when nobody is signed in."""
    role = role_of(user)
    if role is None or isinstance(user, AnonymousUser):
        return None
    return Actor(role=role, user=user, origin=f"user:{user.pk}", is_person=True)


def actor_of_token(token: ApiToken) -> Actor:
    """The service as an actor; the token has been checked before."""
    return Actor(
        role=Role(token.role), user=token.created_by, origin=f"token:{token.pk}", is_person=False
    )
