import type { FastifyServerOptions } from 'fastify';

/** JSON lines. Requests are logged by route template; bodies, queries, cookies and addresses never are. */
export function loggerOptions(level: string): Exclude<FastifyServerOptions['logger'], undefined> {
  return {
    level,
    base: null,
    serializers: {
      req: (request) => ({ method: request.method, route: request.routeOptions?.url ?? 'none' }),
      err: (error) => ({ type: error.name, message: error.message, stack: error.stack ?? '' }),
    },
  };
}
