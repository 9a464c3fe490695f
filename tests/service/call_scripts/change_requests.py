"""Calls on change requests, their content, and their comments."""

from __future__ import annotations

import base64

from .talk import Talk


async def change_request(say: Talk, org: str, space: str) -> None:
    """Create, edit, comment on, review and merge a change request."""
    begun = await say("change_requests.CreateChangeRequest", space_id=space, subject="Light")
    at = {"space_id": space, "change_request_id": begun.id}
    text = base64.b64encode(b"x").decode()
    words = {"object": "text", "leaves": [{"object": "leaf", "text": "Oil.", "marks": []}]}
    block = {"object": "block", "type": "paragraph", "nodes": [words]}
    tree = {"object": "document", "data": {}, "nodes": [block]}
    changes = [
        {"operation": "insert_page", "title": "Tree", "document": {"document": tree}},
        {"operation": "insert_page", "document": {"markdown": "# New\n\nLight.\n"}},
        {"operation": "insert_files", "files": [{"name": "a.txt", "base64": text, "content_type": "text/plain"}]},
    ]
    await say("content_changes.EditChangeRequestContent", **at, changes=changes, compat=False)
    await say("change_requests.UpdateChangeRequest", **at, status="open")
    for name in ("GetChangeRequest", "ListContributors", "PullChangeRequest"):
        await say(f"change_requests.{name}", **at)
    await say("change_requests.ListChangeRequests", space_id=space)
    await say("change_requests.ListOrganizationChangeRequests", organization_id=org)
    await say("content_changes.GetChangeRequestChanges", **at)
    await change_request_content(say, at)
    await talk(say, at)
    await verdicts(say, at)
    assert (await say("change_requests.MergeChangeRequest", **at)).result == "merge"


async def change_request_content(say: Talk, at: dict[str, str]) -> None:
    """Read the content of a change request."""
    revision = await say("content.GetChangeRequestRevision", **at)
    page = (await say("content.ListChangeRequestPages", **at)).pages[0]
    file = (await say("content.ListChangeRequestFiles", **at)).items[0]
    await say("content.GetChangeRequestPage", **at, page_id=page.id)
    await say("content.GetChangeRequestPageByPath", **at, page_path=page.path)
    await say("content.GetChangeRequestPage", **at, page_id=page.id, format="document")
    await say("content.GetChangeRequestPageByPath", **at, page_path=page.path, format="document")
    await say("content.ListChangeRequestPageMetaLinks", **at, page_id=page.id)
    await say("content.GetChangeRequestFile", **at, file_id=file.id)
    await say("links.ListChangeRequestPageLinks", **at, page_id=page.id)
    await say("links.ListChangeRequestPageBacklinks", **at, page_id=page.id)
    await say("links.ListChangeRequestFileBacklinks", **at, file_id=file.id)
    assert "/pdf/" in (await say("change_requests.GetChangeRequestPDF", **at)).url
    snippet = revision.reusable_contents[0].id
    await say("content.GetChangeRequestReusableContent", **at, reusable_content_id=snippet)


async def talk(say: Talk, at: dict[str, str], kind: str = "") -> None:
    """Post, read, update and delete a comment and a reply; `kind` is "Space" for comments on the live content."""
    posted = await say(f"comments.Post{kind}Comment", **at, body={"markdown": "Really?"})
    there = {**at, "comment_id": posted.id}
    await say(f"comments.List{kind}Comments", **at)
    await say(f"comments.Get{kind}Comment", **there)
    await say(f"comments.Update{kind}Comment", **there, resolved=True)
    reply = await say(f"comments.Post{kind}Reply", **there, body={"markdown": "Yes."})
    await say(f"comments.List{kind}Replies", **there)
    below = {**there, "comment_reply_id": reply.id}
    await say(f"comments.Get{kind}Reply", **below)
    await say(f"comments.Update{kind}Reply", **below, body={"markdown": "Yes!"})
    await say(f"comments.Delete{kind}Reply", **below)
    await say("comments.ListSpaceCommenters" if kind else "change_requests.ListCommenters", **at)
    await say(f"comments.Delete{kind}Comment", **there)


async def verdicts(say: Talk, at: dict[str, str]) -> None:
    """Request reviewers and submit a review."""
    await say("change_requests.RequestReviewers", **at, users=[say.member])
    await say("change_requests.ListRequestedReviewers", **at)
    await say("change_requests.RemoveRequestedReviewer", **at, user_id=say.member)
    review = await say("change_requests.SubmitReview", **at, status="approved")
    await say("change_requests.ListReviews", **at)
    await say("change_requests.GetReview", **at, review_id=review.id)
