# The service, with its extras for buckets and integrations: docker build --tag presscheck .
FROM python:3.13-slim AS build
COPY . /source
RUN pip wheel --quiet --wheel-dir /wheels --constraint /source/constraints.txt '/source[serve,integrations,s3]'

FROM python:3.13-slim
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --quiet --no-cache-dir --no-index --find-links /wheels 'presscheck[serve,integrations,s3]' \
    && useradd --uid 10001 --home-dir /data --no-create-home presscheck \
    && install --directory --owner presscheck --mode 0700 /data
USER 10001
ENV PRESSCHECK_HOME=/data PRESSCHECK_DATA=/data/service
VOLUME /data
EXPOSE 8300
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8300/healthz', timeout=4)"]
# the token of the owner is in a file, not in the log
ENTRYPOINT ["presscheck", "serve", "--host", "0.0.0.0", "--token-file", "/data/token"]
