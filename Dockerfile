# One image: the pages are built here, the server is run by Node as it is. Settings: docs/operations.md.
FROM node:24-bookworm-slim AS build
WORKDIR /induct
COPY . .
RUN npm install && npm run build && npm prune --omit=dev

FROM node:24-bookworm-slim
ENV NODE_ENV=production MODE=live HOST=0.0.0.0 DATA_DIR=/data NODE_COMPILE_CACHE=/data/compiled
WORKDIR /induct
COPY --from=build /induct /induct
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 3000
CMD ["node", "--disable-warning=ExperimentalWarning", "--use-largepages=silent", "--max-semi-space-size=8", "--expose-gc", "apps/server/main.ts"]
