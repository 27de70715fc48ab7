# One image: the pages and the server are built here. Settings: docs/operations.md.
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
CMD ["node", "apps/server/start.mjs"]
