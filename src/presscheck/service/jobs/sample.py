"""The job that completes the sample after the first start of a service: teams, integrations and other settings."""

from __future__ import annotations

from presscheck.service.blobs.staged_files import StagedFiles
from presscheck.service.jobs.queue import JobContext, runs


@runs("sample")
def furnish_sample(work: JobContext) -> None:
    """Complete the sample in one transaction, so that a retry does not find a part of it."""
    # takes 90 ms to import, so only at the first start with the sample
    from presscheck.service.sample.administration import furnish
    from presscheck.service.sample.builder import Planting

    files = StagedFiles(work.files, may_wait=True)
    work.write(lambda session: furnish(Planting(session, work.clock(), files), work.files))
