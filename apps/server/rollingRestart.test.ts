import assert from 'node:assert/strict';
import { Agent, type IncomingMessage, request } from 'node:http';
import { after, before, test } from 'node:test';
import { type ServerProcess, startServerProcess, withSettings } from '../../tests/harness/serverProcess.ts';
import { startJoin } from '../../tests/harness/steps.ts';
import { onlyLong } from '../../tests/harness/testLength.ts';
import { startTestServer, type TestServer } from '../../tests/harness/testServer.ts';
import { until } from '../../tests/harness/until.ts';
import { freePort } from '../../tools/local/ports.ts';

let arranged: TestServer;
before(async () => {
  arranged = await startTestServer();
});
after(() => arranged.close());

/**
 * A load balancer like nginx without health checks. It keeps connections alive, picks servers round-robin, and tries the next
 * server if one refuses the connection. It never repeats a request that it has already sent.
 */
class Balancer {
  readonly agent = new Agent({ keepAlive: true, maxSockets: 8 });
  readonly #urls: readonly string[];
  #turn = 0;

  constructor(urls: readonly string[]) {
    this.#urls = urls;
  }

  async call(path: string, body?: object): Promise<string> {
    let failure: unknown;
    const turn = this.#turn++;
    for (const offset of this.#urls.keys()) {
      const url = this.#urls[(turn + offset) % this.#urls.length]!;
      try {
        return await this.#send(url + path, body);
      } catch (error) {
        failure = error;
        if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') break;
      }
    }
    return String(failure);
  }

  async #send(url: string, body?: object): Promise<string> {
    const response = await new Promise<IncomingMessage>((done, fail) => {
      const sent = request(url, {
        agent: this.agent,
        method: body ? 'POST' : 'GET',
        headers: body ? { 'content-type': 'application/json' } : {},
      });
      sent
        .once('response', done)
        .once('error', fail)
        .end(body && JSON.stringify(body));
    });
    let text = '';
    for await (const chunk of response) text += String(chunk);
    return response.statusCode === 200 ? '200' : `${response.statusCode} ${text}`;
  }
}

test('no call fails while two servers are restarted one after the other', { skip: onlyLong }, async (t) => {
  const uuid = await startJoin(arranged.client());
  const ports = [(await freePort())!, (await freePort())!];
  // No load balancer polls these servers' /readyz, so they stop without this delay.
  const start = (port: number) =>
    startServerProcess(withSettings(arranged, { PORT: String(port), STOP_DELAY_SECONDS: '60' }));
  const servers: ServerProcess[] = await Promise.all(ports.map(start));
  t.after(() => Promise.all(servers.map((server) => server.kill())));
  const balancer = new Balancer(servers.map(({ url }) => url));
  t.after(() => balancer.agent.destroy());

  const answers: string[] = [];
  let isOver = false;
  const asking = Array.from({ length: 4 }, async (_, number) => {
    while (!isOver)
      answers.push(
        number % 2 === 0
          ? await balancer.call(`/api/public/join-session/${uuid}/hubspot-contact`)
          : await balancer.call('/api/public/eligibility/check', {
              invitationCode: 'LINCOLN2026',
              isTOLA: true,
            }),
      );
  });
  const stop = async (index: number) => {
    const sofar = answers.length;
    await until(() => answers.length > sofar + 40);
    const began = performance.now();
    assert.equal(await servers[index]!.stop(), 0);
    assert.ok(performance.now() - began < 60_000, 'it stops at once');
  };
  await stop(0);
  servers[0] = await start(ports[0]!);
  await stop(1);
  const sofar = answers.length;
  await until(() => answers.length > sofar + 10);
  isOver = true;
  await Promise.all(asking);
  assert.deepEqual([...new Set(answers)], ['200']);
});

test('whoever asks whether a server is ready is told no before it takes no more connections', async (t) => {
  const server = await startServerProcess(withSettings(arranged, { STOP_DELAY_SECONDS: '60' }));
  t.after(() => server.kill());
  const ready = async () => {
    const response = await fetch(`${server.url}/readyz`, { headers: { connection: 'close' } });
    return { status: response.status, body: await response.json() };
  };
  assert.deepEqual(await ready(), { status: 200, body: { ready: true, missing: [] } });
  void server.stop();
  await until(async () => (await ready()).status === 503);
  assert.deepEqual(await ready(), { status: 503, body: { ready: false, missing: ['stopping'] } });
  assert.equal((await fetch(`${server.url}/api/openapi.json`)).status, 200);
});
