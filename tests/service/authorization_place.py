"""A builder of the places of the authorization tests, with one item of every kind, by calls of the owner."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session
from tests.service.integration_scripts import LISTENER

from presscheck.api.audit_events import ListAuditEvents
from presscheck.api.change_requests import (
    CreateChangeRequest,
    MergeChangeRequest,
    RequestReviewers,
    SubmitReview,
    UpdateChangeRequest,
)
from presscheck.api.collections import CreateCollection, UpdateCollection
from presscheck.api.comments import PostComment, PostReply, PostSpaceComment, PostSpaceReply
from presscheck.api.content_changes import EditChangeRequestContent
from presscheck.api.content_installations import InstallInSite, InstallInSpace
from presscheck.api.conversations import IngestConversations
from presscheck.api.external_links import AddExternalLink
from presscheck.api.imports import StartImport
from presscheck.api.integrations import InstallIntegration, PublishIntegration, SetDevelopmentMode, UpdateInstallation
from presscheck.api.invites import CreateInvite
from presscheck.api.openapi import CreateOpenAPISpec
from presscheck.api.operation import Operation
from presscheck.api.organizations import UpdateOrganization
from presscheck.api.permissions import (
    InviteToCollection,
    InviteToSite,
    InviteToSpace,
    UpdateCollectionTeamPermission,
)
from presscheck.api.saml import CreateSAMLProvider
from presscheck.api.site_findings import ListSiteFindings
from presscheck.api.site_settings import (
    CreateRedirect,
    CreateShareLink,
    GetCustomization,
    OverrideSiteSpaceCustomization,
    UpdateAdaptiveSchema,
)
from presscheck.api.site_structure import AddSection, AddSectionGroup, AddSiteSpace, ListSiteSpaces, UpdateSection
from presscheck.api.sites import CreateSite, GetSite, PublishSite
from presscheck.api.spaces import CreateSpace, DeleteSpace, GetSpace, UpdateSpace
from presscheck.api.teams import CreateTeam
from presscheck.api.translations import CreateTranslation
from presscheck.documents.lz_string import compressed
from presscheck.service.blobs.store import DiskBlobStore
from presscheck.service.content.revisions import add_document, add_revision, new_page
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import document_id, moment_text, new_id, system_clock
from presscheck.service.models.content import CommentRow, ReplyRow
from presscheck.service.models.imports import ClusterRow, ReaderIssueRow, SpecRow, SpecVersionRow, TranslationRow
from presscheck.service.models.integrations import EventRow
from presscheck.service.models.sites import SiteRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import LEVELS

IN_PRIVATE_PLACE, FOR_ADMINS, FOR_THIRD = "quagga", "okapi", "dodo"
"""Words in titles and texts of the private place, of a private space in the open place, and of a third organization."""
IN_PRIVATE_SITE, TEAM = "tapir", "Readers"
"""Words in titles of sites and sections of the private place, and the title of a team."""
OPENAPI = '{"openapi": "3.0.3", "info": {"title": "Lamps", "version": "1"}, "paths": {}}'
NODES = {"object": "document", "data": {}, "nodes": []}
INTEGRATION = {
    "title": "Lamp post",
    "description": "Lights",
    "scopes": ("space:content:read",),
    "script": LISTENER,
    "content_sources": ({"id": "pages"},),
}
COMPONENT: dict[str, Any] = {"component_id": "lamp", "props": {}, "context": {}}
PACKED_COMPONENT = compressed('{"componentId": "lamp", "props": {}, "context": {}}')
NO_CLAIMS = {"type": "object", "properties": {}, "additionalProperties": False}
EXTERNAL = {"kind": "external", "url": "https://example.org/"}

Ids = dict[str, Any]


class PlaceBuilder:
    """Builds places one after another.

    Args:
        database: the database of the service, for items that no call can create.
        data: the directory for uploaded files.
        make: sends a call of the owner and returns the answer.
        ids: the ids of organizations, teams and a member.
        users: the user ids of all callers by name.
        website: the URL of a website that the service may reach.
    """

    def __init__(
        self,
        database: Database,
        data: Path,
        make: Callable[[Operation[Any]], Any],
        ids: Mapping[str, str],
        users: Mapping[str, str],
        website: str,
    ) -> None:
        self.database = database
        self.files = DiskBlobStore(data)
        self.make = make
        self.ids = ids
        self.home = ids["home_id"]
        self.users = users
        self.website = website

    def shared(self) -> Ids:
        """Create what both places use: a collection where members may create, and items of other organizations."""
        make = self.make
        workshop = make(CreateCollection(organization_id=self.home, title="Workshop")).id
        nested = make(CreateCollection(organization_id=self.home, title="Bench", parent=workshop)).id
        make(UpdateCollectionTeamPermission(collection_id=workshop, team_id=self.ids["members_team_id"], role="create"))
        third = self.ids["third_id"]
        bypass = {"rule": "allow_bypass", "users": (self.ids["member_id"],)}
        rules = {"type": "rules", "rules": (bypass,)}
        make(UpdateOrganization(organization_id=self.home, merge_rules=rules, invite_links=True))
        make(CreateSpace(organization_id=third, title=FOR_THIRD))
        make(CreateSite(organization_id=third, title=FOR_THIRD))
        return {
            **self.ids,
            "organization_id": self.home,
            "owner_id": self.users["owner"],
            "outsider_id": self.users["outsider"],
            "website": self.website,
            "file_url": f"{self.website}/a.txt",
            "workshop_id": workshop,
            "workshop_collection_id": nested,
            "workshop_space_id": make(CreateSpace(organization_id=self.home, title="Tool", parent=workshop)).id,
            **self._elsewhere(),
        } | {f"own_user_id of {user}": user for user in self.users.values()}

    def _elsewhere(self) -> Ids:
        """Create items where all callers are admins. Returns ids with the prefix ``elsewhere_``."""
        make, here = self.make, {"organization_id": self.ids["elsewhere_id"]}
        collection = make(CreateCollection(**here, title="Far")).id
        space = make(CreateSpace(**here, title="Far")).id
        placed = make(CreateSpace(**here, title="Far")).id
        site = make(CreateSite(**here, title="Far", spaces=(placed,))).id
        [site_space] = make(ListSiteSpaces(**here, site_id=site)).items
        change_request = make(CreateChangeRequest(space_id=space)).id
        comment = make(PostComment(space_id=space, change_request_id=change_request, body={"markdown": "Far"})).id
        details = {**INTEGRATION, "organization": here["organization_id"]}
        return {
            f"elsewhere_{name}": item
            for name, item in {
                **here,
                "collection_id": collection,
                "space_id": space,
                "change_request_id": change_request,
                "comment_id": comment,
                "revision_id": make(GetSpace(space_id=space)).revision,
                "site_id": site,
                "site_space_id": site_space.id,
                "spec_slug": make(CreateOpenAPISpec(**here, slug="far", source={"text": OPENAPI})).slug,
                "team_id": make(CreateTeam(**here, title="Far")).id,
                "integration_name": make(PublishIntegration(integration_name="far", **details)).name,
            }.items()
        }

    def place(self, shared: Ids, *, is_private: bool) -> Ids:
        """Build a place. Returns its ids by the names of path fields and by other names that the tests use."""
        word = IN_PRIVATE_PLACE if is_private else "zebra"
        ids = {**shared, "is_private": is_private}
        ids |= self._spaces(word, is_private=is_private)
        ids |= self._content(ids["space_id"], word)
        requests_url = ids["space_url"].replace("/s/", "/spaces/") + "/change-requests/"
        ids["change_request_url"] = requests_url + ids["change_request_id"]
        ids |= self._comments(ids, word)
        if not is_private:
            ids |= self._space_for_admins(ids["collection_id"])
        ids |= self._sites(ids, is_private=is_private)
        ids |= self._integrations(ids, is_private=is_private)
        given = {"users": (ids["newcomer_id"],), "teams": (ids["granted_team_id"],), "role": "comment"}
        self.make(InviteToCollection(collection_id=ids["collection_id"], **given))
        self.make(InviteToSpace(space_id=ids["space_id"], **given | {"role": "read"}))
        self.make(InviteToSite(organization_id=self.home, site_id=ids["site_id"], **given))
        ids |= self._invites(ids)
        ids |= self._outside(ids, "private" if is_private else "open")
        [event, *_] = self.make(ListAuditEvents(organization_id=self.home, limit=1)).items
        ids["audit_event_id"] = event.id
        return ids

    def _spaces(self, word: str, *, is_private: bool) -> Ids:
        ids: Ids = {}
        for name in ("collection", "spare_collection"):
            row = self.make(CreateCollection(organization_id=self.home, title=f"{word} {name}"))
            ids[f"{name}_id"] = row.id
            team = self.ids["granted_team_id"]
            self.make(UpdateCollectionTeamPermission(collection_id=row.id, team_id=team, role="read"))
            if not is_private:
                continue
            self.make(UpdateCollection(collection_id=row.id, default_level=None))
            for level in LEVELS:
                team = self.ids[f"team_with_{level}"]
                self.make(UpdateCollectionTeamPermission(collection_id=row.id, team_id=team, role=level))
        for name in ("nested_collection", "second_nested_collection"):
            nested = CreateCollection(organization_id=self.home, title=f"{word} {name}", parent=ids["collection_id"])
            ids[f"{name}_id"] = self.make(nested).id
        for name in ("space", "second_space", "third_space", "fourth_space", "spare_space", "deleted_space"):
            parent = ids["spare_collection_id" if name in ("spare_space", "deleted_space") else "collection_id"]
            made = self.make(CreateSpace(organization_id=self.home, title=f"{word} {name}", parent=parent))
            ids |= {f"{name}_id": made.id, f"{name}_url": made.urls.app}
        self.make(DeleteSpace(space_id=ids["deleted_space_id"]))
        ids["collection_url"] = ids["space_url"].rpartition("/s/")[0] + f"/c/{ids['collection_id']}"
        return ids

    def _space_for_admins(self, collection_id: str) -> Ids:
        """Add a space to the collection that does not inherit its default level."""
        made = self.make(CreateSpace(organization_id=self.home, title=FOR_ADMINS, parent=collection_id))
        self.make(UpdateSpace(space_id=made.id, default_level=None))
        with self.database.writing.begin() as session:
            self._first_revision(session, made.id, FOR_ADMINS)
        return {"space_for_admins_id": made.id}

    def _content(self, space_id: str, word: str) -> Ids:
        with self.database.writing.begin() as session:
            self._first_revision(session, space_id, word)
        change_request = self._change_request(space_id, word)
        merged = self._change_request(space_id, "Other")
        live = self.make(MergeChangeRequest(space_id=space_id, change_request_id=merged)).revision
        at = {"space_id": space_id, "change_request_id": change_request}
        self.make(UpdateChangeRequest(**at, status="open"))
        self.make(RequestReviewers(**at, users=(self.ids["member_id"],)))
        review = self.make(SubmitReview(**at, status="approved")).id
        return {
            "change_request_id": change_request,
            "review_id": review,
            "revision_id": live,
            "page_id": "guide",
            "page_path": "guide",
            "file_id": "picture",
            "reusable_content_id": "note",
            "document_id": document_id(f"{word} note\n"),
        }

    def _first_revision(self, session: Session, space_id: str, word: str) -> None:
        now = moment_text(system_clock())
        text = f"# Guide\n\n{word} [home](README.md) ![picture](.gitbook/assets/picture.svg)\n"
        pages = [
            new_page(f"{word} guide", slug="guide", document=add_document(session, text), page_id="guide"),
            new_page("Start", slug="start", document=add_document(session, f"{word} start\n"), page_id="start"),
        ]
        picture = b"<svg xmlns='http://www.w3.org/2000/svg'/>"
        file = {"id": "picture", "name": f"{word}.svg", "contentType": "image/svg+xml", "size": len(picture)}
        note = {"id": "note", "title": f"{word} note", "document": add_document(session, f"{word} note\n")}
        revision = add_revision(
            session,
            space_id,
            pages,
            created_at=now,
            created_by=self.users["owner"],
            files=[{**file, "content": self.files.put(picture)}],
            reusable_contents=[note],
        )
        session.get_one(SpaceRow, space_id).revision_id = revision

    def _change_request(self, space_id: str, subject: str) -> str:
        """Create a change request that adds a page."""
        made = self.make(CreateChangeRequest(space_id=space_id, subject=subject))
        page = {"operation": "insert_page", "document": {"markdown": f"# {subject}\n\n{subject}\n"}}
        at = {"space_id": space_id, "change_request_id": made.id}
        self.make(EditChangeRequestContent(**at, changes=(page,), compat=False))
        return made.id

    def _comments(self, ids: Ids, word: str) -> Ids:
        """Add comments and replies of the owner and of each user."""
        at = {"space_id": ids["space_id"]}
        in_request = {**at, "change_request_id": ids["change_request_id"]}
        body = {"markdown": word}
        comment = self.make(PostComment(**in_request, body=body)).id
        space_comment = self.make(PostSpaceComment(**at, body=body)).id
        made: Ids = {
            "comment_id": comment,
            "comment_reply_id": self.make(PostReply(**in_request, comment_id=comment, body=body)).id,
            "space_comment_id": space_comment,
            "space_reply_id": self.make(PostSpaceReply(**at, comment_id=space_comment, body=body)).id,
        }
        now = moment_text(system_clock())
        with self.database.writing.begin() as session:
            for user in set(self.users.values()):
                said: dict[str, Any] = {"body": body, "posted_by": user, "posted_at": now}
                where = {"space_id": ids["space_id"], "revision": ids["revision_id"]}
                own = CommentRow(id=new_id(), change_request_id=ids["change_request_id"], **where, **said)
                own_on_space = CommentRow(id=new_id(), **where, **said)
                own_reply = ReplyRow(id=new_id(), comment_id=comment, **said)
                own_reply_on_space = ReplyRow(id=new_id(), comment_id=space_comment, **said)
                session.add_all((own, own_on_space, own_reply, own_reply_on_space))
                made[f"own_comment_id of {user}"] = own.id
                made[f"own_space_comment_id of {user}"] = own_on_space.id
                made[f"own_reply_id of {user}"] = own_reply.id
                made[f"own_space_reply_id of {user}"] = own_reply_on_space.id
        return made

    def _sites(self, ids: Ids, *, is_private: bool) -> Ids:
        make = self.make
        visibility = "visitor-auth" if is_private else "public"
        word = IN_PRIVATE_SITE if is_private else "Lamps"
        shown = {"organization_id": self.home, "spaces": (ids["space_id"],)}
        site = make(CreateSite(**shown, title=word, visibility=visibility)).id
        draft = make(CreateSite(**shown, title=word, visibility=visibility)).id
        make(AddSiteSpace(organization_id=self.home, site_id=draft, space_id=ids["second_space_id"]))
        drafted = [one.id for one in make(ListSiteSpaces(organization_id=self.home, site_id=draft)).items]
        shared = make(CreateSite(**shown, title=word, visibility="share-link")).id
        public = make(CreateSite(**shown, title="Lamps", visibility="public")).id
        at = {"organization_id": self.home, "site_id": site}
        second = make(AddSection(**at, space_id=ids["second_space_id"], title=f"{word} second")).id
        section = make(AddSection(**at, space_id=ids["third_space_id"], title=f"{word} third")).id
        grouped = make(AddSection(**at, space_id=ids["fourth_space_id"], title=f"{word} fourth")).id
        group = make(AddSectionGroup(**at, title=f"{word} group", sections=(grouped,))).id
        for path, added in {"second": second, "third": section, "fourth": grouped}.items():
            # by default the path has words of the title, and the URLs of spaces contain the path
            make(UpdateSection(**at, site_section_id=added, path=path))
        make(UpdateAdaptiveSchema(**at, json_schema=NO_CLAIMS))
        for published in (site, shared, public):
            make(PublishSite(organization_id=self.home, site_id=published))
        [placed] = [one.id for one in make(ListSiteSpaces(**at)).items if one.space.id == ids["space_id"]]
        make(OverrideSiteSpaceCustomization(**at, site_space_id=placed, settings={"title": "Own"}))
        with self.database.snapshot() as session:
            key = session.get_one(SiteRow, shared).share_key
        return {
            "site_id": site,
            "draft_site_id": draft,
            "draft_site_space_id": drafted[0],
            "second_draft_site_space_id": drafted[1],
            "shared_site_id": shared,
            "public_site_id": public,
            "public_site_url": make(GetSite(organization_id=self.home, site_id=public)).urls.published,
            "share_key": key,
            "site_section_id": section,
            "second_site_section_id": second,
            "site_section_group_id": group,
            "site_space_id": placed,
            "site_external_link_id": make(AddExternalLink(**at, title=f"{word} link", url="https://example.org/")).id,
            "site_finding_id": make(ListSiteFindings(**at)).items[0].id,
            "share_link_id": make(CreateShareLink(**at, name="For us")).id,
            "site_redirect_id": make(CreateRedirect(**at, source="/old", destination=EXTERNAL)).id,
            "customization": make(GetCustomization(**at)),
        }

    def _integrations(self, ids: Ids, *, is_private: bool) -> Ids:
        """Publish three integrations of the organization.

        One is installed in the organization, one in other organizations only, and one in a selected space and site.
        """
        make, visibility = self.make, "private" if is_private else "public"
        name, other, selecting = f"lamp-{visibility}", f"light-{visibility}", f"glow-{visibility}"
        for published in (name, other, selecting):
            details = {**INTEGRATION, "organization": self.home, "visibility": visibility}
            make(PublishIntegration(integration_name=published, **details))
        make(SetDevelopmentMode(integration_name=name, tunnel_url=self.website))
        make(SetDevelopmentMode(integration_name=other, tunnel_url=self.website, all=True))
        installed = make(InstallIntegration(integration_name=name, organization=self.home)).id
        elsewhere = make(InstallIntegration(integration_name=other, organization=self.ids["elsewhere_id"])).id
        third = make(InstallIntegration(integration_name=other, organization=self.ids["third_id"])).id
        chosen = make(InstallIntegration(integration_name=selecting, organization=self.home)).id
        selected = {"integration_name": selecting, "installation_id": chosen}
        make(UpdateInstallation(**selected, space_selection="selected", site_selection="selected"))
        make(InstallInSpace(**selected, space=ids["second_space_id"]))
        make(InstallInSite(**selected, site_id=ids["draft_site_id"]))
        with self.database.writing.begin() as session:
            delivered = update(EventRow).where(EventRow.installation_id == installed)
            session.execute(delivered.values(status="failed"))
            event = session.scalars(select(EventRow.id).where(EventRow.installation_id == installed)).one()
        return {
            "integration_name": name,
            "content_source": {"type": f"integration:{selecting}:pages", "props": {}},
            "other_integration_name": other,
            "new_integration_name": f"new-{visibility}",
            "installation_id": installed,
            "selecting_integration_name": selecting,
            "selecting_installation_id": chosen,
            "elsewhere_installation_id": elsewhere,
            "third_installation_id": third,
            "event_id": event,
        }

    def _invites(self, ids: Ids) -> Ids:
        make, at = self.make, {"organization_id": self.home}
        return {
            "invite_id": make(CreateInvite(**at, role="read")).id,
            "space_invite_id": make(CreateInvite(**at, space=ids["space_id"], level="read")).id,
            "collection_invite_id": make(CreateInvite(**at, collection=ids["collection_id"], level="read")).id,
            "saml_provider_id": make(CreateSAMLProvider(**at, label="Keys")).id,
        }

    def _outside(self, ids: Ids, name: str) -> Ids:
        """Add external content; the results of background jobs are written to the database directly."""
        make, at = self.make, {"organization_id": self.home}
        spec = make(CreateOpenAPISpec(**at, slug=f"lamps-{name}", source={"text": OPENAPI})).id
        parts = ({"role": "user", "body": "How is a lamp filled?"},)
        make(IngestConversations(**at, conversations=({"id": name, "parts": parts},)))
        source = {"space": ids["space_id"], "language": "en"}
        translation = make(CreateTranslation(**at, source=source, language="de")).id
        website = {"type": "website", "url": self.website}
        run = make(StartImport(**at, source=website, target={"space": ids["space_id"]})).id
        now = moment_text(system_clock())
        about = {"organization_id": self.home, "summary": "", "words": [], "created_at": now}
        cluster = ClusterRow(id=new_id(), label="Oil", updated_at=now, **about)
        issue = ReaderIssueRow(
            id=new_id(), conversation_id=name, cluster_id=cluster.id, title="Oil", ingested_at=now, **about
        )
        version = SpecVersionRow(id=new_id(), spec_id=spec, content=self.files.put(OPENAPI.encode()), created_at=now)
        with self.database.writing.begin() as session:
            session.add_all((cluster, issue, version))
            session.get_one(SpecRow, spec).last_version = version.id
            session.get_one(TranslationRow, translation).status = "completed"
        return {
            "spec_slug": f"lamps-{name}",
            "version_id": version.id,
            "conversation_id": name,
            "issue_id": issue.id,
            "translation_id": translation,
            "import_run_id": run,
        }
