# One image: the pages and the server are built here, and only what runs goes into it (docs/decisions/0002). Settings and run lines:
# docs/deploy.md, "Without compose: one container". `npm run lab -- image` does what this file says where there is no Docker.
FROM node:26-bookworm-slim AS packages
WORKDIR /induct
COPY package.json package-lock.json .npmrc ./
# npm ci refuses the lockfile (CONTRIBUTING.md); install keeps to it, too. Types, source maps and tests of packages never run.
RUN npm install --no-save --omit=dev --omit=optional --ignore-scripts && \
    find node_modules -type f \( -name '*.map' -o -name '*.ts' -o -name '*.[cm]ts' -o -name '*.test.*' \) -delete && \
    find node_modules -type d \( -name test -o -name tests -o -name __tests__ -o -name bench \) -prune -exec rm -r {} +

FROM node:26-bookworm-slim AS build
WORKDIR /induct
COPY package.json package-lock.json .npmrc ./
RUN npm install --no-save --ignore-scripts
COPY . .
RUN node tools/local/build.ts && node tools/local/sbom.ts > sbom.json

FROM node:26-bookworm-slim
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Induct" \
      org.opencontainers.image.description="The public join flow of an honor society" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
ENV NODE_ENV=production MODE=live HOST=0.0.0.0 PORT=3000 DATA_DIR=/data NODE_COMPILE_CACHE=/data/compiled
WORKDIR /induct
COPY --from=packages /induct/node_modules node_modules
COPY package.json LICENSE THIRD-PARTY.md ./
COPY packages packages
COPY society society
COPY apps/server apps/server
COPY apps/staff apps/staff
COPY --from=build /induct/apps/server/dist apps/server/dist
COPY --from=build /induct/apps/web/dist apps/web/dist
COPY --from=build /induct/apps/desk/dist apps/desk/dist
COPY --from=build /induct/sbom.json ./
# A volume that is empty takes its owner from here.
RUN mkdir /data /documents && chown node:node /data /documents
USER node
VOLUME ["/data"]
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Node would give short-lived objects up to 192 MB of memory before it looks which of them are still used.
CMD ["node", "--max-semi-space-size=16", "apps/server/start.mjs"]
