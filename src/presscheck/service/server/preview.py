"""A preview of a documentation folder as a published site: a service whose data is deleted at the end.

The folder is checked twice a second. Unchanged files are not read or stored again.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from presscheck.api.sites import CreateSite, PublishSite
from presscheck.api.spaces import CreateSpace
from presscheck.documents.git_format.files import Entry, RepositoryFiles
from presscheck.documents.git_format.models import Repository
from presscheck.documents.git_format.repository import KnownTexts, read_repository
from presscheck.service.app import build
from presscheck.service.blobs.staged_files import StagedFiles
from presscheck.service.blobs.store import BlobStore, DiskBlobStore
from presscheck.service.content.revisions import add_revision
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import moment_text, new_id, system_clock
from presscheck.service.git_import.importer import LONGEST_TITLE, stored_content, stored_files
from presscheck.service.handlers.sites import create_site, publish_site
from presscheck.service.handlers.spaces import create_space
from presscheck.service.http.middleware import write_log
from presscheck.service.http.operations import Context
from presscheck.service.models.organizations import OrganizationRow
from presscheck.service.models.sites import SiteRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.server.bootstrap import ensure_owner
from presscheck.service.server.server import ServeOptions, ServiceServer, address_of, listening, opened, service_config
from presscheck.service.sites.urls import site_address
from presscheck.service.web.live_pages import LivePages
from presscheck.text.sanitize import sanitize

PAUSE = 0.5
"""Seconds between two checks of the folder."""


class PreviewedFolder:
    """A folder, and the space and site that show its content.

    Args:
        path: the folder.
        database: the database of the preview.
        files: the store of images and files.
        origin: the URL of the service.
    """

    def __init__(self, path: Path, database: Database, files: BlobStore, origin: str) -> None:
        self._path, self._database, self._files, self._origin = path, database, files, origin
        self._entries: dict[str, Entry] = {}
        self._texts = KnownTexts()
        self._stored: dict[str, tuple[Entry, list[dict[str, Any]]]] = {}
        """The stored form of each file by source path, with the state of the file when it was stored."""
        self._ids: dict[str, str] = {}

    def publish(self) -> str:
        """Import the folder and publish it as a site. Return the URL of the site.

        Raises:
            OSError: the folder cannot be read.
        """

        def write(session: Session) -> str:
            owner = ensure_owner(session, system_clock, sample=False)
            session.flush()
            context = Context(session, owner, self._origin, system_clock, StagedFiles(self._files, may_wait=True))
            organization = session.scalars(select(OrganizationRow)).one().id
            create_space(context, CreateSpace(organization_id=organization, title=title))
            space = session.scalars(select(SpaceRow)).one()
            create_site(context, CreateSite(organization_id=organization, title=title, spaces=(space.id,)))
            site = session.scalars(select(SiteRow)).one()
            publish_site(context, PublishSite(organization_id=organization, site_id=site.id))
            return site_address(context, site)

        self._changed_entries()
        repository = read_repository(self._path, self._texts)
        title = repository.title[:LONGEST_TITLE]
        url = self._database.write(write)
        self._import(repository)
        return url

    def update(self) -> str | None:
        """Import the folder if it has changed. Return the id of the new revision, or None.

        Raises:
            OSError: the folder cannot be read.
        """
        if not self._changed_entries():
            return None
        try:
            return self._import(read_repository(self._path, self._texts))
        except BaseException:
            self._entries = {}  # the next update tries again
            raise

    @property
    def revision(self) -> str:
        """The id of the revision that pages show."""
        with self._database.snapshot() as session:
            return session.scalars(select(SpaceRow)).one().revision_id

    def _changed_entries(self) -> bool:
        before, self._entries = self._entries, RepositoryFiles(self._path.resolve(strict=True)).entries
        return before != self._entries

    def _import(self, repository: Repository) -> str:
        files = self._stored_files(repository)

        def write(session: Session) -> str:
            now = moment_text(system_clock())
            space = session.scalars(select(SpaceRow)).one()
            content = stored_content(session, repository, now, files, [], self._id_of)
            space.title = repository.title[:LONGEST_TITLE]
            space.revision_id = add_revision(
                session,
                space.id,
                content.tree,
                created_at=now,
                created_by=space.created_by,
                parents=[space.revision_id],
                files=content.files,
                reusable_contents=content.reusable_contents,
            )
            space.updated_at = now
            return space.revision_id

        return self._database.write(write)

    def _stored_files(self, repository: Repository) -> list[dict[str, Any]]:
        """Store the files that changed. Return all files in stored form."""
        before, self._stored = self._stored, {}
        for file in repository.files:
            status = file.location.stat()
            entry = Entry(file.location, status.st_size, status.st_mtime_ns)
            former = before.get(file.source)
            stored = former[1] if former and former[0] == entry else stored_files((file,), self._files, [], self._id_of)
            self._stored[file.source] = entry, stored
        return [file for _, stored in self._stored.values() for file in stored]

    def _id_of(self, source: str) -> str:
        return self._ids.setdefault(source, new_id())


def preview(path: Path, port: int) -> None:
    """Serve a folder as a published site until SIGTERM or SIGINT, and print the URL of the site.

    Raises:
        ConfigurationError: the port cannot be used.
        OSError: the folder cannot be read.
    """
    os.umask(0o077)  # the data is private to the user
    write_log(requests=False)
    with TemporaryDirectory(prefix="presscheck-preview-") as name:
        data = Path(name)
        url = f"sqlite:///{data / 'service.sqlite'}"
        with listening(ServeOptions(database=url, data=data, port=port)) as listener:
            database, files, origin = opened(url), DiskBlobStore(data), address_of(listener)
            folder = PreviewedFolder(path, database, files, origin)
            site = folder.publish()
            live = LivePages(folder.revision)
            server = ServiceServer(service_config(build(database, data_dir=data, files=files, live=live)))
            ended = threading.Event()
            live.is_closing = lambda: server.should_exit
            watcher = threading.Thread(target=_watch, args=(folder, live, ended), daemon=True)
            watcher.start()
            print(site, flush=True)  # noqa: T201  # part of the command line interface
            try:
                server.run(sockets=[listener])
            finally:
                ended.set()
                watcher.join()


def _watch(folder: PreviewedFolder, live: LivePages, ended: threading.Event) -> None:
    """Import the folder after each change, and announce the new revision to its pages, until the preview ends."""
    reported = ""
    while not ended.wait(PAUSE):
        if live.is_closing():
            continue  # the database is about to be closed
        try:
            live.revision = folder.update() or live.revision
            reported = ""
        except Exception as error:  # without this loop, the pages would stay as they are
            reason = str(error) or type(error).__name__
            if reason != reported and not live.is_closing():
                reported = reason
                message = f"presscheck: the pages are those of before: {sanitize(reported.splitlines()[0])}"
                print(message, file=sys.stderr, flush=True)  # noqa: T201
