"""Who may do what: roles of people, tokens of services, one-time sign-in links."""

from enum import StrEnum

from django.conf import settings
from django.db import models

from swarmui.models.fields import new_id, one_of, word_column


class Role(StrEnum):
    """Viewers look; operators start and steer; reviewers decide; admins rule."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    REVIEWER = "reviewer"
    ADMIN = "admin"


class Membership(models.Model):
    """A person's role. Without one a signed-in person is a viewer."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="membership"
    )
    role = word_column(Role, default=Role.VIEWER)

    class Meta:
        constraints = [one_of("role", Role, "membership_role_is_known")]

    def __str__(self) -> str:
        return f"{self.user_id}: {self.role}"


class ApiToken(models.Model):
    """A service's key. Only its digest is stored; the key itself is shown once."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=16)
    digest = models.CharField(max_length=64, unique=True)
    role = word_column(Role)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [one_of("role", Role, "token_role_is_known")]

    def __str__(self) -> str:
        return f"token {self.name}"


class SignInLink(models.Model):
    """A link that signs one person in, once."""

    digest = models.CharField(max_length=64, unique=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"sign-in link of {self.user_id}"
