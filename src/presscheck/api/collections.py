"""Collections: nested groups of spaces."""

from pydantic import Field

from presscheck.api.operation import InOrganization, Model, NullableModel, Operation, Page, Paged
from presscheck.api.roles import ContentPosition, DefaultLevel, Location
from presscheck.api.spaces import Space


class CollectionPermissions(Model):
    """The caller's permissions for a collection."""

    view: bool = False
    admin: bool = False
    view_invite_links: bool = False
    create: bool = False


class Collection(NullableModel):
    """A group of spaces and collections; `parent` is missing at the top level."""

    nullable = frozenset({"default_level"})
    object: str = "collection"
    id: str
    title: str = ""
    description: str | None = None
    organization: str = ""
    parent: str | None = None
    default_level: str | None = None
    urls: Location = Field(default_factory=Location)
    permissions: CollectionPermissions = Field(default_factory=CollectionPermissions)


class GetCollection(Operation[Collection]):
    """Get a collection."""

    operation_id = "getCollectionById"
    route = "GET /collections/{collection_id}"

    collection_id: str


class UpdateCollection(Operation[Collection]):
    """Update a collection.

    The title has at most 50 characters, the description 100. The default level can be null.
    """

    operation_id = "updateCollectionById"
    route = "PATCH /collections/{collection_id}"

    collection_id: str
    title: str | None = Field(default=None, max_length=50)
    description: str | None = Field(default=None, max_length=100)
    default_level: DefaultLevel | None = None


class DeleteCollection(Operation[None]):
    """Delete a collection.

    Succeeds even if it does not exist.
    """

    operation_id = "deleteCollectionById"
    route = "DELETE /collections/{collection_id}"
    success = 204

    collection_id: str


class ListCollections(InOrganization, Paged, Operation[Page[Collection]]):
    """List the collections of an organization.

    Includes collections inside others unless `nested` is false.
    """

    operation_id = "listCollectionsInOrganizationById"
    route = "GET /orgs/{organization_id}/collections"

    nested: bool | None = None


class CreateCollection(InOrganization, Operation[Collection]):
    """Create a collection.

    It is created at the top level, or in `parent`. The title has at most 50 characters.
    """

    operation_id = "createCollection"
    route = "POST /orgs/{organization_id}/collections"
    success = 201

    title: str | None = Field(default=None, max_length=50)
    parent: str | None = None


class ListSpacesInCollection(Paged, Operation[Page[Space]]):
    """List the spaces of a collection."""

    operation_id = "listSpacesInCollectionById"
    route = "GET /collections/{collection_id}/spaces"

    collection_id: str


class MoveCollection(Operation[Collection]):
    """Move a collection.

    Moves it into `parent` (null: the top level), or next to another collection.
    Fails with 400, 404 or 409 if that is not possible.
    """

    operation_id = "moveCollection"
    route = "POST /collections/{collection_id}/move"

    collection_id: str
    parent: str | None = None
    position: ContentPosition | None = None


class TransferCollection(Operation[Collection]):
    """Transfer a collection to another organization.

    Fails with 404, 409 or 412 if the transfer is not possible.
    """

    operation_id = "transferCollection"
    route = "POST /collections/{collection_id}/transfer"

    collection_id: str
    organization: str
