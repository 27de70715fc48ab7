import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** The pause between two pieces of a page (ms): long enough for a browser to paint what it has received. */
const BETWEEN_MS = 150;

/** Starts a proxy of `url` that sends each page in pieces, with a pause after each text of `cuts`, as a slow network would. */
export async function serveInPieces(
  url: string,
  cuts: readonly string[],
): Promise<AsyncDisposable & { url: string }> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { host, connection, 'accept-encoding': _, ...headers } = request.headers;
    const answer = await fetch(url + request.url, {
      method: request.method!,
      headers: headers as Record<string, string>,
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    const body = await answer.text();
    const {
      'content-encoding': _encoding,
      'content-length': _length,
      ...rest
    } = Object.fromEntries(answer.headers);
    delete rest['transfer-encoding'];
    delete rest.connection;
    response.writeHead(answer.status, rest);
    let left = body;
    if (rest['content-type']?.startsWith('text/html'))
      for (const cut of cuts) {
        const end = left.indexOf(cut) + cut.length;
        response.write(left.slice(0, end));
        left = left.slice(end);
        await pause(BETWEEN_MS);
      }
    response.end(left);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close().closeAllConnections();
    },
  };
}
