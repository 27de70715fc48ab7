import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startServerProcess, withSettings } from '../../../tests/harness/serverProcess.ts';
import { paidJoin } from '../../../tests/harness/steps.ts';
import { temporaryFolder } from '../../../tests/harness/temporaryFolder.ts';
import { onlyLong } from '../../../tests/harness/testLength.ts';
import { browser, sharedServer } from '../../../tests/harness/testServer.ts';
import { until } from '../../../tests/harness/until.ts';

const server = await sharedServer();

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number; boolValue?: boolean };
}
interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: Attribute[];
}
interface LogRecord {
  traceId?: string;
  body: { stringValue: string };
  attributes: Attribute[];
}

/** Starts an OTLP collector (HTTP) that records the spans and log lines that it receives. */
async function collector(t: TestContext) {
  const [spans, lines]: [Span[], LogRecord[]] = [[], []];
  let text = '';
  const listening = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    text += body;
    const sent = JSON.parse(body);
    for (const { scopeSpans } of sent.resourceSpans ?? [])
      for (const scope of scopeSpans) spans.push(...scope.spans);
    for (const { scopeLogs } of sent.resourceLogs ?? [])
      for (const scope of scopeLogs) lines.push(...scope.logRecords);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  }).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  t.after(() => listening.close());
  const { port } = listening.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, spans, lines, text: () => text };
}

const attribute = ({ attributes }: Pick<Span, 'attributes'>, name: string) =>
  attributes.find(({ key }) => key === name)?.value.stringValue;

/** Returns environment variables that make a process print the name of each OpenTelemetry package that it loads, except the API. */
function tellingWhatIsLoaded(t: TestContext): Record<string, string> {
  const hook = join(temporaryFolder(t), 'hook.mjs');
  writeFileSync(
    hook,
    `import { registerHooks } from 'node:module';
    registerHooks({ resolve(specifier, context, next) {
      const found = next(specifier, context);
      const name = /node_modules\\/(@opentelemetry\\/[^/]+)/.exec(found.url)?.[1];
      if (name && name !== '@opentelemetry/api') process.stdout.write('LOADED ' + name + '\\n');
      return found;
    } });`,
  );
  return { NODE_OPTIONS: `--import=file://${hook}` };
}

test("a request, its calls to Stripe and its log lines are one trace, with Stripe's own id and nothing of a person", async (t) => {
  const collected = await collector(t);
  const sending = await startServerProcess(
    withSettings(server, {
      OTEL_EXPORTER_OTLP_ENDPOINT: collected.url,
      LOG_LEVEL: 'info',
      ...tellingWhatIsLoaded(t),
    }),
  );
  t.after(() => sending.kill());
  await server.hubspotFault({ kind: 'status', status: 500, times: 1 });
  const client = browser(sending.url);
  const { uuid, intentId, clientSecret } = await paidJoin(server, client, 'HONOR101');
  // Background work calls both providers: polling lists Stripe's events, and the join is sent to HubSpot.
  const called = (what: string) =>
    sending.log().some(({ operation, provider }) => operation === what || provider === what);
  await until(() => called('GET /v1/events') && called('hubspot'));
  assert.equal(await sending.stop(), 0);
  assert.match(sending.output(), /LOADED @opentelemetry\/sdk-trace/);

  const { spans, lines } = collected;
  const route = '/api/public/join-session/:uuid/create-payment-intent';
  const request = spans.find((span) => attribute(span, 'http.route') === route)!;
  assert.equal(request.name, `POST ${route}`);
  const call = spans.find(({ parentSpanId }) => parentSpanId === request.spanId)!;
  assert.equal(call.name, 'stripe POST /v1/payment_intents');
  assert.equal(call.traceId, request.traceId);
  const stripeId = attribute(call, 'provider.request_id')!;
  assert.match(stripeId, /^req_/);
  const line = lines.find(({ attributes }) => attribute({ attributes }, 'requestId') === stripeId)!;
  assert.equal(line.body.stringValue, 'a provider was called');
  assert.equal(line.traceId, request.traceId);
  assert.equal(attribute(line, 'reqId'), attribute(request, 'induct.request_id'));
  // Log lines on standard output have the same ids as the exported ones.
  const printed = sending.log().find(({ requestId }) => requestId === stripeId)!;
  assert.equal(printed.trace_id, request.traceId);

  const sweep = spans.find(({ name }) => name === 'sweep payments')!;
  assert.ok(
    spans.some(({ parentSpanId, name }) => parentSpanId === sweep.spanId && name.startsWith('stripe GET')),
  );
  assert.ok(
    spans.some((span) => span.name.startsWith('hubspot ') && attribute(span, 'provider.request_id')),
    'HubSpot has an id of its own',
  );
  assert.ok(
    !spans.some(({ name }) => name === 'attach documents in HubSpot'),
    'rounds with nothing in them are not sent',
  );
  const all = collected.text().toLowerCase();
  for (const secret of [uuid, clientSecret, intentId, 'rivera', 'example.com', 'sk_test', '"4242"'])
    assert.ok(!all.includes(secret.toLowerCase()), secret);
});

test('without an endpoint nothing of it is loaded', { skip: onlyLong }, async (t) => {
  const quiet = await startServerProcess(withSettings(server, tellingWhatIsLoaded(t)));
  t.after(() => quiet.kill());
  await paidJoin(server, browser(quiet.url));
  assert.equal(await quiet.stop(), 0);
  assert.doesNotMatch(quiet.output(), /LOADED/);
});

test('a collector that is away keeps a server neither from serving nor from stopping', {
  skip: onlyLong,
}, async (t) => {
  const alone = await startServerProcess(
    withSettings(server, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }),
  );
  t.after(() => alone.kill());
  await paidJoin(server, browser(alone.url));
  assert.equal(await alone.stop(), 0);
});
