"""Changes of the documents: submit, follow, cancel."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from trivium.server.errors import not_found
from trivium.server.job_table import Change, Job, State
from trivium.server.request_checks import caller_of
from trivium.server.routes.documents import known_document
from trivium.server.schemas import Records, errors
from trivium.server.service import Service, Serving
from trivium.server.uploads import Upload, settled

router = APIRouter(tags=["documents"])


def _records_schema() -> dict[str, Any]:
    """Return the schema of records with its definitions inlined, because FastAPI does not list them as components."""
    schema = Records.model_json_schema()
    schema["properties"]["records"]["items"] = schema.pop("$defs")["Record"]
    return schema


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
                            "description": "HTML pages, or records as JSON Lines.",
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
            "application/json": {"schema": _records_schema()},
        },
    }
}


class JobList(BaseModel):
    """Jobs, newest first. `next` is the value for `before` to get the next page; null at the end."""

    jobs: list[Job]
    next: str | None


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
        return await _submit(serving, request, response, upload.change("add"), upload)


@router.delete(
    "/documents/{page:path}", status_code=202, response_model=Job, responses=errors(404, 422, 503, 507)
)
async def delete_document(page: str, request: Request, response: Response, serving: Serving) -> Job:
    """Remove a document. If others cite it, it remains as an entity. Returns immediately with the job that does it."""
    uri = await serving.read(request, lambda engine: known_document(engine, page))
    return await _submit(serving, request, response, Change(Change.new_id(), "delete", uri))


@router.get("/jobs", responses=errors(404, 422, 503))
def list_jobs(
    serving: Serving,
    limit: Annotated[int, Query(ge=1, le=1000, description="Maximum number of jobs.")] = 100,
    before: Annotated[str | None, Query(max_length=100, description="Only jobs older than this one.")] = None,
    state: Annotated[State | None, Query(description="Only jobs in this state.")] = None,
) -> JobList:
    """List changes of the documents, newest first, in pages. The last 1,000 finished ones are kept."""
    if before is not None and serving.jobs.get(before) is None:
        raise _no_job(before)
    jobs = serving.jobs.recent(limit + 1, before, state)
    shown = jobs[:limit]
    return JobList(jobs=shown, next=shown[-1].id if len(jobs) > limit else None)


@router.get("/jobs/{identifier}", responses=errors(404, 422, 503))
def read_job(identifier: str, serving: Serving) -> Job:
    """Return the state of a change of the documents."""
    job = serving.jobs.get(identifier)
    if job is None:
        raise _no_job(identifier)
    return job


@router.delete("/jobs/{identifier}", responses={202: {"model": Job}, **errors(404, 409, 422, 503, 507)})
def cancel_job(identifier: str, response: Response, serving: Serving) -> Job:
    """Cancel a change. A waiting one is cancelled immediately. A running one stops at its next step (202: it is still
    running), and what it has changed by then remains.
    """
    job = serving.jobs.cancel(identifier)
    if job is None:
        raise _no_job(identifier)
    if job.state != "cancelled":
        response.status_code = 202
    return job


async def _submit(
    serving: Service, request: Request, response: Response, change: Change, upload: Upload | None = None
) -> Job:
    caller = caller_of(request.scope)
    asked = change if caller is None else replace(change, asked_by=caller.key)

    def submit() -> Job:
        job = serving.jobs.submit(asked)
        if upload is not None:
            upload.taken = True
        return job

    job = await settled(submit)
    response.headers["Location"] = f"/jobs/{job.id}"
    return job


def _no_job(identifier: str) -> Exception:
    return not_found(f"there is no job {identifier!r}; jobs that ended long ago are forgotten")
