"""Administration of the sample: teams, sign-in, adaptive content, integrations, imports, conversations.

A background job creates this part after the first start of a service with the sample, so that the start does not wait
for it. Other jobs then process the specification and the translation, as for items of users.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import select

from presscheck.api import change_requests as requests
from presscheck.api.agent_instructions import UpdateAgentInstructions
from presscheck.api.comments import Document
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage
from presscheck.api.conversations import IngestConversations, Message, Metadata, NewConversation
from presscheck.api.external_links import AddExternalLink
from presscheck.api.imports import ImportTarget, StartImport, WebsiteSource
from presscheck.api.integrations import InstallIntegration, PublishIntegration
from presscheck.api.invites import CreateInvite
from presscheck.api.openapi import CreateOpenAPISpec, SpecSource
from presscheck.api.saml import CreateSAMLProvider
from presscheck.api.site_findings import ListSiteFindings, UpdateSiteFinding
from presscheck.api.site_settings import (
    CreateRedirect,
    CreateShareLink,
    OverrideSiteSpaceCustomization,
    RedirectDestination,
    UpdateAdaptiveSchema,
)
from presscheck.api.site_structure import AddSection, ListSiteSpaces, UpdateSection
from presscheck.api.sites import AdaptiveContentChange, ListSites, UpdateSite
from presscheck.api.style_guides import CreateStyleGuide
from presscheck.api.teams import CreateTeam
from presscheck.api.translations import CreateTranslation, SourceToTranslate
from presscheck.documents.nodes.from_markdown import markdown_to_nodes
from presscheck.documents.visitors.claim_schema import empty_schema
from presscheck.service.blobs.store import BlobStore
from presscheck.service.db.ids import new_id
from presscheck.service.git_import.importer import import_repository
from presscheck.service.jobs.queue import cancel_jobs
from presscheck.service.models.content import RevisionRow
from presscheck.service.models.imports import ImportRow
from presscheck.service.models.organizations import OrganizationRow, UserRow
from presscheck.service.models.sites import PageFeedbackRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.sample.builder import HERE, Planting, ago, read

RECENTLY = timedelta(days=20)


def furnish(planting: Planting, store: BlobStore) -> None:
    """Create the teams, settings and items that `furnishings.yaml` describes, and the space of the carriers."""
    _Furnishing(planting, read("furnishings.yaml")).run(store)


class _Furnishing:
    """Creates everything as the owner of the sample."""

    def __init__(self, planting: Planting, described: dict[str, Any]) -> None:
        self.planting, self.described = planting, described
        self.organization = {"organization_id": planting.organization}

    def run(self, store: BlobStore) -> None:
        self._people()
        carriers = self._carriers(store)
        self._readers(self._sites(carriers))
        self._integration()
        self._imported()
        self._translation()
        self._conversations()

    def _does(self, call: Any, past: timedelta = RECENTLY) -> Any:
        return self.planting.does(self.planting.owner, past, call)

    def _people(self) -> None:
        for team in self.described["teams"]:
            self._does(CreateTeam(**self.organization, title=team["title"], members=tuple(team["members"])))
        self._does(CreateInvite(**self.organization, role="comment"))
        instructions = markdown_to_nodes(self.described["instructions"])
        self._does(UpdateAgentInstructions(**self.organization, instructions=instructions))
        certificate = (HERE / "sign-in.pem").read_text("ascii")
        self._does(CreateSAMLProvider(**self.organization, **self.described["sign_in"], certificate=certificate))

    def _carriers(self, store: BlobStore) -> str:
        """Import the space of the carriers, with files and reusable content, and add its specification."""
        session, past = self.planting.session, self.planting.present - RECENTLY
        organization = session.get_one(OrganizationRow, self.planting.organization)
        owner = session.get_one(UserRow, self.planting.owner)
        repository = HERE / "carriers"
        import_repository(session, organization, owner, repository, store=store, clock=lambda: past)
        source = SpecSource(text=(repository / ".gitbook/assets/rates.yaml").read_text("utf-8"))
        self._does(CreateOpenAPISpec(**self.organization, slug="rates", source=source))
        space = session.scalars(select(SpaceRow).where(SpaceRow.title == "Carriers")).one()
        space.repository_url = "https://git.tallowick.example/carriers"
        return space.id

    def _sites(self, carriers: str) -> dict[str, Any]:
        """Add settings, redirects and a share link to sites. Return the path parameters of the public site."""
        sites = self._does(ListSites(**self.organization)).items
        public, inside = (next(site.id for site in sites if site.published == is_live) for is_live in (True, False))
        self._does(CreateShareLink(**self.organization, site_id=inside, name=self.described["share_link"]))
        at: dict[str, Any] = {**self.organization, "site_id": public}
        for redirect in self.described["redirects"]:
            destination = RedirectDestination(kind="external", url=redirect["url"])
            self._does(CreateRedirect(**at, source=redirect["source"], destination=destination))
        unsigned = {
            "type": "object",
            "description": "What anybody can claim",
            "properties": self.described["claims"],
            "additionalProperties": False,
        }
        schema = {**empty_schema(), "properties": {"unsigned": unsigned}}
        self._does(UpdateSite(**at, adaptive_content=AdaptiveContentChange(enabled=True)))
        self._does(UpdateAdaptiveSchema(**at, json_schema=schema))
        section = self._does(AddSection(**at, space_id=carriers, title="Carriers", icon="truck"))
        self._does(UpdateSection(**at, site_section_id=section.id, condition=self.described["condition"]))
        self._does(CreateStyleGuide(**at, template="plain"))
        return at

    def _readers(self, at: dict[str, Any]) -> None:
        """Add an external link, a customized space, feedback of readers, and the status of a finding."""
        self._does(AddExternalLink(**at, **self.described["external_link"]))
        customized = self.described["customized"]
        spaces = self._does(ListSiteSpaces(**at)).items
        site_space = next(candidate for candidate in spaces if candidate.space.title == customized["space"])
        settings = customized["settings"]
        self._does(OverrideSiteSpaceCustomization(**at, site_space_id=site_space.id, settings=settings))
        session = self.planting.session
        page = session.get_one(RevisionRow, site_space.space.revision).tree[0]
        for number, feedback in enumerate(self.described["feedback"]):
            moment = self.planting.moment(ago(feedback["ago"]))
            row = PageFeedbackRow(id=new_id(), site_id=at["site_id"], page_id=page["id"], reader=f"reader {number}")
            row.day, row.created_at, row.network = moment[:10], moment, ""
            row.url, row.rating = site_space.urls.published, feedback["rating"]
            row.comment = feedback.get("comment", "")
            session.add(row)
        findings = self._does(ListSiteFindings(**at, type=("content-gap",))).items
        if findings:
            self._does(UpdateSiteFinding(**at, site_finding_id=findings[0].id, status="canceled"))

    def _integration(self) -> None:
        given = dict(self.described["integration"])
        name, block, source = given.pop("name"), given.pop("block"), given.pop("source")
        script = (HERE / "parcel-status.js").read_text("utf-8")
        publish = PublishIntegration(
            integration_name=name,
            organization=self.planting.organization,
            script=script,
            blocks=(block,),
            content_sources=(source,),
            scopes=("space:content:read",),
            categories=("content",),
            visibility="private",
            **given,
        )
        self._does(publish)
        self._does(InstallIntegration(integration_name=name, organization=self.planting.organization))

    def _imported(self) -> None:
        """Create a finished import. Its pages come from the sample, because a demo has no website to read."""
        imported = self.described["imported"]
        request = self._does(requests.CreateChangeRequest(space_id="guides", subject=imported["subject"]))
        at = {"space_id": "guides", "change_request_id": request.id}
        changes = tuple(
            InsertPage(title=page["title"], document=Document(markdown=page["text"])) for page in imported["pages"]
        )
        written = self._does(EditChangeRequestContent(**at, changes=changes, compat=False)).changes
        target = ImportTarget(space="guides", change_request=request.id)
        source = WebsiteSource(url=imported["url"])
        run = self._does(StartImport(**self.organization, source=source, target=target))
        session, now = self.planting.session, self.planting.moment(RECENTLY)
        cancel_jobs(session, run.id, now)
        row = session.get_one(ImportRow, run.id)
        row.status, row.started_at, row.completed_at = "completed", now, now
        row.pages = [
            {"id": result.page_id, "sourceURL": page["url"], "type": "page", "status": "complete"}
            for result, page in zip(written, imported["pages"], strict=True)
        ]

    def _translation(self) -> None:
        translation = self.described["translation"]
        source = SourceToTranslate(space=translation["from"], language="en")
        self._does(CreateTranslation(**self.organization, source=source, language=translation["language"]))

    def _conversations(self) -> None:
        conversations = [
            NewConversation(
                id=f"mail-{number}",
                subject=conversation["subject"],
                metadata=Metadata(created_at=self.planting.moment(ago(conversation["ago"]))),
                parts=(
                    Message(role="user", body=conversation["question"]),
                    Message(role="team-member", body=conversation["answer"]),
                ),
            )
            for number, conversation in enumerate(self.described["conversations"], 1)
        ]
        self._does(IngestConversations(**self.organization, conversations=tuple(conversations)))
