import type { FastifyInstance } from 'fastify';

/** Makes a minimal server listen, sends its address to the parent process (`{ listening: url }`), and exits with the parent. */
export async function listen(
  app: FastifyInstance,
  close: () => Promise<unknown> = async () => {},
): Promise<void> {
  process.send?.({ listening: await app.listen({ host: '127.0.0.1', port: 0 }) });
  const stop = () =>
    void app
      .close()
      .then(close)
      .finally(() => process.exit(0));
  for (const event of ['SIGTERM', 'SIGINT', 'disconnect'] as const) process.once(event, stop);
}
