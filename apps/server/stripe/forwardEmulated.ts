import type { FastifyInstance } from 'fastify';

/**
 * Puts the stand-in for Stripe behind this server's own port, so that everything is served by one. With real keys it
 * is not there: the browser talks to Stripe itself.
 */
export async function forwardEmulated(app: FastifyInstance, { to }: { to: string }): Promise<void> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));
  app.all('/emulated/stripe/*', { schema: { hide: true } }, async (request, reply) => {
    const path = request.url.slice('/emulated/stripe'.length);
    const headers = new Headers();
    for (const name of [
      'authorization',
      'content-type',
      'idempotency-key',
      'stripe-version',
      'accept',
    ] as const) {
      const value = request.headers[name];
      if (typeof value === 'string') headers.set(name, value);
    }
    const hasBody = Buffer.isBuffer(request.body) && request.body.length > 0;
    const response = await fetch(to + path, {
      method: request.method,
      headers,
      redirect: 'manual',
      ...(hasBody ? { body: new Uint8Array(request.body as Buffer) } : {}),
    });
    void reply.status(response.status);
    for (const name of ['content-type', 'location', 'request-id', 'cache-control', 'retry-after']) {
      const value = response.headers.get(name);
      if (value !== null) void reply.header(name, value);
    }
    return reply.send(Buffer.from(await response.arrayBuffer()));
  });
}
