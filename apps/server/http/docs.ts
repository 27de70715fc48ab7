import swagger, { type StaticDocumentSpec } from '@fastify/swagger';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { nothingHere } from './errors.ts';

export const DOCS = '/api/docs';

/** Pages about every call. Made when somebody opens the first one: a server that starts has no time for them. */
export function serveDocs(app: FastifyInstance): void {
  let pages: Promise<FastifyInstance> | undefined;
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    pages ??= makePages(app.swagger() as StaticDocumentSpec['document']).catch((error: unknown) => {
      // The next visitor tries again.
      pages = undefined;
      throw error;
    });
    const { routing } = await pages;
    reply.hijack();
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value);
    routing(request.raw, reply.raw);
  };
  for (const url of [DOCS, `${DOCS}/*`]) app.get(url, { schema: { hide: true } }, handler);
}

async function makePages(document: StaticDocumentSpec['document']): Promise<FastifyInstance> {
  const { default: swaggerUi } = await import('@fastify/swagger-ui');
  const app = Fastify();
  app.setNotFoundHandler(nothingHere);
  await app.register(swagger, {
    mode: 'static',
    specification: { document },
  });
  await app.register(swaggerUi, { routePrefix: DOCS, staticCSP: true });
  await app.ready();
  return app;
}
