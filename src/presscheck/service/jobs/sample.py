"""The job that adds teams, integrations and settings to the sample workspace after the first start of a service."""

from __future__ import annotations

from presscheck.service.blobs.staged_files import StagedFiles
from presscheck.service.jobs.queue import JobContext, runs


@runs("sample")
def furnish_sample(work: JobContext) -> None:
    """Complete the sample in one transaction, so that a retry never finds a half-completed sample."""
    # takes 90 ms to import, so only at the first start with the sample
    from presscheck.service.sample.administration import furnish
    from presscheck.service.sample.builder import Planting

    files = StagedFiles(work.files, may_wait=True)
    work.write(lambda session: furnish(Planting(session, work.clock(), files), work.files))
