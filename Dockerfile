# The server in an image; docs/howto/deploy.md describes it. When it runs, nothing is compiled or downloaded, and nothing
# is written outside /data and /tmp: `docker run --read-only --tmpfs /tmp --volume trivium-data:/data` works.
ARG PYTHON=3.12-slim-bookworm

FROM python:${PYTHON} AS build
WORKDIR /src
COPY . .
# It compiles the loops in C, by a compiler from the package index: this image has none.
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:${PYTHON}
# Of pyproject.toml, for example documents,serve,mcp,openai.
ARG EXTRAS=documents,serve
# Caches and accepted changes of stores in Neo4j belong to the home, which is the volume.
ENV PATH=/opt/trivium/bin:$PATH \
    HOME=/data \
    TRIVIUM_STORE=/data/store \
    PYTHONUNBUFFERED=1
# What the core and the server need, by checksums; a layer that changes seldom. Modules are compiled to bytecode, too.
RUN --mount=type=bind,source=requirements-release.txt,target=/wheels/requirements.txt \
    python -m venv /opt/trivium \
    && pip install --no-cache-dir --require-hashes --requirement /wheels/requirements.txt
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    --mount=type=bind,source=constraints.txt,target=/src/constraints.txt \
    pip install --no-cache-dir --constraint /src/constraints.txt "$(echo /wheels/trivium-*.whl)[${EXTRAS}]" \
    && mkdir /data \
    && chown 10001:10001 /data
USER 10001:10001
# This ends the build if the model or the compiled loops were missing.
RUN trivium models verify && python -c "from trivium.native.loops import loops; loops.scan"
VOLUME ["/data"]
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["python", "-c", \
    "import urllib.request as r; r.build_opener(r.ProxyHandler({})).open('http://127.0.0.1:8000/health')"]
ENTRYPOINT ["trivium"]
# To the other side of the container's own network; which addresses of the machine reach it, --publish says.
CMD ["serve", "--host", "0.0.0.0"]
