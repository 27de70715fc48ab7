import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { registry as counted } from '../platform/metrics.ts';
import type { Deps } from './deps.ts';
import { registerGauges } from './gauges.ts';

/** The timeout of a request for metrics (ms). */
const PATIENCE_MS = 15_000;

export interface MetricsServer {
  url: string;
  close(): Promise<void>;
}

/**
 * Serves /metrics, and nothing else, on a separate port of HOST, because the public port must not show metrics. Throws an Error for
 * staff if the port is in use.
 */
export async function serveMetrics(
  deps: Pick<Deps, 'database' | 'log' | 'config' | 'society'>,
  port: number,
  options: { keptMs?: number; startedAt?: number } = {},
): Promise<MetricsServer> {
  const asked = new Registry();
  collectDefaultMetrics({ register: asked });
  registerGauges(asked, deps, options);
  const all = Registry.merge([counted, asked]);
  const server = createServer((request, response) => {
    if (request.url?.split('?', 1)[0] !== '/metrics' || !['GET', 'HEAD'].includes(request.method ?? ''))
      return void response.writeHead(404).end();
    all.metrics().then(
      (text) =>
        response.writeHead(200, { 'content-type': all.contentType, 'cache-control': 'no-store' }).end(text),
      (error: unknown) => {
        deps.log.error({ err: error }, 'the metrics could not be collected');
        response.writeHead(500).end();
      },
    );
  });
  server.requestTimeout = PATIENCE_MS;
  server.headersTimeout = PATIENCE_MS;
  await new Promise<void>((done, fail) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      fail(
        error.code === 'EADDRINUSE'
          ? new Error(
              `METRICS_PORT: ${port} is taken at ${deps.config.host}. Each server on a machine needs a port of its own.`,
            )
          : error,
      ),
    );
    server.listen({ host: deps.config.host, port }, () => {
      server.removeAllListeners('error');
      done();
    });
  });
  const { address, port: taken, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}/metrics`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
