"""Changes of the documents: submit and follow."""

from __future__ import annotations

import logging
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from trivium.server.errors import not_found
from trivium.server.guard import caller_of
from trivium.server.job_table import Change, Job
from trivium.server.logs import FIELDS
from trivium.server.routes.documents import known_document
from trivium.server.schemas import errors
from trivium.server.service import Service, Serving
from trivium.server.uploads import Upload, settled

router = APIRouter(tags=["documents"])

_log = logging.getLogger(__name__)

_ADD = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {
                        "files": {
                            "type": "array",
                            "minItems": 1,
                            "items": {"type": "string", "format": "binary"},
                            "description": "Documents of any format that is read.",
                        },
                        "meta": {
                            "type": "string",
                            "description": "Metadata of all documents, as a JSON object.",
                            "examples": ['{"year": 2024}'],
                        },
                        "language": {
                            "type": "string",
                            "description": "The language code of all documents, or `auto` to detect the language of"
                            " each; by default that of the collection.",
                            "examples": ["de"],
                        },
                    },
                }
            },
        },
    }
}


class JobList(BaseModel):
    """Jobs, newest first."""

    jobs: list[Job]


@router.post(
    "/documents",
    status_code=202,
    response_model=Job,
    openapi_extra=_ADD,
    responses=errors(400, 408, 413, 415, 422, 503, 507),
)
async def add_documents(request: Request, response: Response, serving: Serving) -> Job:
    """Add documents. Documents that exist and differ are replaced. Returns immediately with the job that does it."""
    async with serving.uploads.receive(request) as upload:
        return await _submit(serving, request, response, upload.change(), upload)


@router.delete(
    "/documents/{page:path}", status_code=202, response_model=Job, responses=errors(404, 422, 503, 507)
)
async def delete_document(page: str, request: Request, response: Response, serving: Serving) -> Job:
    """Remove a document. If others cite it, it remains as an entity. Returns immediately with the job that does it."""
    uri = await serving.read(request, lambda engine: known_document(engine, page))
    return await _submit(serving, request, response, Change(Change.new_id(), "delete", uri))


@router.get("/jobs", responses=errors(422, 503))
def list_jobs(
    serving: Serving,
    limit: Annotated[int, Query(ge=1, le=1000, description="Maximum number of jobs.")] = 100,
) -> JobList:
    """List changes of the documents, newest first. The last 1,000 finished ones are kept."""
    return JobList(jobs=serving.jobs.recent(limit))


@router.get("/jobs/{identifier}", responses=errors(404, 422, 503))
def read_job(identifier: str, serving: Serving) -> Job:
    """Return the state of a change of the documents."""
    job = serving.jobs.get(identifier)
    if job is None:
        raise not_found(f"there is no job {identifier!r}; jobs that ended long ago are forgotten")
    return job


async def _submit(
    serving: Service, request: Request, response: Response, change: Change, upload: Upload | None = None
) -> Job:
    def submit() -> Job:
        job = serving.jobs.submit(change)
        if upload is not None:
            upload.taken = True
        return job

    job = await settled(submit)
    caller = caller_of(request.scope)
    told = {"job": job.id, "kind": job.kind, "key": None if caller is None else caller.key}
    _log.info("a change was accepted", extra={FIELDS: told})
    response.headers["Location"] = f"/jobs/{job.id}"
    return job
