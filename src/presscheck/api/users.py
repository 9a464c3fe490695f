"""Users."""

from pydantic import Field

from presscheck.api.operation import Model, Operation
from presscheck.api.roles import Location


class User(Model):
    """A user. `email` and `photo_url` are missing if the caller may not see them."""

    object: str = "user"
    id: str
    display_name: str = ""
    email: str | None = None
    photo_url: str | None = Field(default=None, alias="photoURL")
    urls: Location = Field(default_factory=Location)


class Contribution(Model):
    """The number of contributions of a user, and the time of the latest."""

    user: User
    count: int = 0
    updated_at: str | None = None


class GetCurrentUser(Operation[User]):
    """Get the user that the token belongs to.

    Fails with 404 if the token belongs to no user.
    """

    operation_id = "getAuthenticatedUser"
    route = "GET /user"
    feature = "user lookup"


class GetUser(Operation[User]):
    """Get a user."""

    operation_id = "getUserById"
    route = "GET /users/{user_id}"
    feature = "user lookup"

    user_id: str
