"""Measures the quality of site search on real documentation, and its processor time.

Usage: python -m benchmarks.site_search FOLDER [--questions N] [--misses]. Each directory in the folder (by default
`PRESSCHECK_DOCS`) is a repository; all of them are spaces of one organization. The questions come from the repositories
themselves: headings that a single page has, and the texts of links between pages. The score is the mean reciprocal rank
(MRR): 1 if the page comes first, 1/2 if it comes second, 0 if it is not found.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

from tests.service.factories import plant_world
from tests.service.questions import questions_of, reciprocal_rank

from presscheck.service.blobs.store import DiskBlobStore
from presscheck.service.content.revisions import document_texts
from presscheck.service.content.search import WHOLE, find, searched_pages
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import system_clock
from presscheck.service.git_import.importer import import_repository
from presscheck.service.http.operations import Caller, Context
from presscheck.service.models.organizations import OrganizationRow, UserRow
from presscheck.service.models.spaces import SpaceRow


def main() -> None:
    """Import the repositories, ask the questions, and print the score and the times."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", default=os.environ.get("PRESSCHECK_DOCS"))
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--misses", action="store_true", help="print the questions whose page does not come first")
    options = parser.parse_args()
    if not options.folder:
        parser.error("no folder")
    with tempfile.TemporaryDirectory() as directory:
        _measure(Path(options.folder), Path(directory), options.questions, prints_misses=options.misses)


def _measure(folder: Path, directory: Path, count: int, *, prints_misses: bool) -> None:
    world = plant_world(f"sqlite:///{directory / 'd.sqlite'}", "http://127.0.0.1")
    database = Database(world.database_url)
    files = DiskBlobStore(directory)
    with database.writing.begin() as session:
        organization = session.get_one(OrganizationRow, world.organization)
        owner = session.get_one(UserRow, world.users["admin"])
        for repository in sorted(path for path in folder.iterdir() if path.is_dir()):
            import_repository(session, organization, owner, repository, store=files)
    with database.snapshot() as session:
        caller = Caller(world.users["admin"], "Admin", None, None)
        context = Context(session, caller, "http://127.0.0.1", system_clock, directory)
        spaces = session.query(SpaceRow).filter(SpaceRow.id != world.space).all()
        pages = searched_pages(context, spaces)
        texts = document_texts(session, [page.page["documentId"] for page in pages if page.page.get("documentId")])
        questions = questions_of([(page, texts.get(page.page.get("documentId", ""), "")) for page in pages], count)
        size = sum(map(len, texts.values())) / 1e6
        print(f"{len(pages)} pages, {size:.1f} million characters, {len(questions)} questions")
        ranks: list[float] = []
        first: list[float] = []
        repeated: list[float] = []
        for question in questions:
            for times in (first, repeated):
                start = time.thread_time()
                result = find(context, pages, question.query, WHOLE)
                times.append(1000 * (time.thread_time() - start))
            places = [(hit.place.space_id, hit.page["id"]) for hit in result.hits]
            ranks.append(reciprocal_rank(question, places))
            if prints_misses and ranks[-1] < 1:
                titles = [hit.page["title"] for hit in result.hits[:3]]
                expected = next(page.page["title"] for page in pages if page.page["id"] == question.page_id)
                print(f"  {ranks[-1]:.2f} {question.query!r} -> {expected!r}, found {titles} of {len(result.hits)}")
        half = len(ranks) // 2
        print(f"MRR {statistics.mean(ranks):.3f}: headings {statistics.mean(ranks[:half]):.3f},", end=" ")
        print(f"links {statistics.mean(ranks[half:]):.3f}; first {ranks.count(1.0)}, not found {ranks.count(0.0)}")
        for name, times in (("first", first), ("again", repeated)):
            ordered = sorted(times)
            print(f"{name}: median {statistics.median(times):.1f} ms, most {ordered[-1]:.1f} ms")
    database.close()


if __name__ == "__main__":
    main()
