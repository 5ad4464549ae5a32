"""Public reports over the API: listed, made and taken back."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from denv.rollout.documents import iso
from denv.serve import actions
from denv.serve.api.answers import CONFLICT, plain
from denv.serve.api.models import Nothing, Publication, Publications, Publish
from denv.serve.api.parameters import Context, Name
from denv.serve.context import ServeContext
from denv.store import Publication as Kept

DAY_S = 86_400.0

router = APIRouter(tags=["publications"])


@router.get("/publications", response_model=Publications)
def list_publications(context: Context) -> Any:
    """Give all reports that were published, the newest first; those taken back too."""
    found = context.store.publications.all()
    return Publications(publications=[_publication(context, each) for each in found])


@router.post("/runs/{run}/publish", response_model=Publication, status_code=201, responses=CONFLICT)
async def publish(context: Context, run: Name, given: Publish) -> Any:
    """Make a run's public report, served from now on to whoever has its address."""
    kept = await actions.publish_run(
        context,
        run,
        stale_days=given.stale_days,
        expires_s=None if given.expires_days is None else given.expires_days * DAY_S,
        indexed=given.indexed,
        with_suite=given.with_suite,
    )
    return _publication(context, kept)


@router.post("/publications/{publication}/revoke", response_model=Publication, responses=CONFLICT)
async def revoke(context: Context, publication: Name, given: Nothing) -> Any:
    """Take a report back for good."""
    return _publication(context, await actions.revoke_publication(context, publication))


def _publication(context: ServeContext, kept: Kept) -> Publication:
    return Publication(
        publication=kept.publication,
        run=kept.run,
        stage=kept.stage,
        path=f"/r/{kept.publication}/",
        created=iso(kept.created) or "",
        expires=iso(kept.expires),
        revoked=iso(kept.revoked),
        served=kept.is_open(context.now().timestamp()),
        indexed=kept.indexed,
        verdict=plain(str(kept.head["verdict"])),
    )
