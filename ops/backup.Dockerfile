# Induct's command line with PostgreSQL's client tools, to back up and restore: the service backup of compose.yaml, and
# docs/run.md, "Back up". POSTGRES is the major version of the server.
ARG INDUCT=induct:latest
ARG POSTGRES=18
FROM ${INDUCT} AS induct

FROM postgres:${POSTGRES}-bookworm
RUN apt-get update && apt-get install --yes --no-install-recommends libatomic1 libstdc++6 && rm -rf /var/lib/apt/lists/*
COPY --from=induct /usr/local/bin/node /usr/local/bin/node
COPY --from=induct /induct /induct
# /data is the volume of the server in which staff's commands run: it has the journal of erasures. Nobody calls this: no proxy is
# believed.
ENV NODE_ENV=production MODE=live DATA_DIR=/data TRUST_PROXY=none
WORKDIR /induct
# The image's own user: it owns the documents.
USER 1000:1000
ENTRYPOINT ["node", "apps/staff/operator.ts"]
