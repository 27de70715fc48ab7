# Induct's command line with PostgreSQL's client tools, to back up and restore: docs/operations.md, "Backup and restore". POSTGRES is the
# major version of the server.
ARG INDUCT=induct:latest
ARG POSTGRES=18
FROM ${INDUCT} AS induct

FROM postgres:${POSTGRES}-bookworm
RUN apt-get update && apt-get install --yes --no-install-recommends libstdc++6 && rm -rf /var/lib/apt/lists/*
COPY --from=induct /usr/local/bin/node /usr/local/bin/node
COPY --from=induct /induct /induct
# Nobody calls it: no proxy is believed.
ENV NODE_ENV=production MODE=live DATA_DIR=/tmp/induct TRUST_PROXY=none
WORKDIR /induct
# The image's own user: it owns the documents.
USER 1000:1000
ENTRYPOINT ["node", "apps/server/operator.ts"]
