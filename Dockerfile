# One image for web, worker and beat: docker-compose.yml says which one a container is.
FROM python:3.12-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /app
RUN python -m venv /venv
ENV PATH=/venv/bin:$PATH
COPY requirements-build.lock requirements.lock ./
RUN pip install --require-hashes -r requirements-build.lock \
 && pip install --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE manage.py ./
COPY verifier verifier
COPY swarmui swarmui
COPY templates templates
COPY static static
RUN pip install --no-deps --no-build-isolation --editable . \
 && REDIS_URL=redis://unused SWARMUI_HOME=/tmp/build swarmui collectstatic --noinput --verbosity 0 \
 && python -m compileall -q verifier swarmui \
 && pip uninstall --yes --quiet uv

FROM python:3.12-slim-bookworm
# git: workspaces of mode `worktree`.
RUN apt-get update \
 && apt-get install -y --no-install-recommends git \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --create-home --shell /usr/sbin/nologin swarmui \
 && install -d -o swarmui -g swarmui /var/lib/swarmui
COPY --from=build /venv /venv
COPY --from=build /app /app
COPY examples /app/examples
WORKDIR /app
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    SWARMUI_ENV=production SWARMUI_HOME=/var/lib/swarmui
USER swarmui
VOLUME /var/lib/swarmui
EXPOSE 8000
CMD ["uvicorn", "swarmui.asgi:application", "--host", "0.0.0.0", "--port", "8000"]
