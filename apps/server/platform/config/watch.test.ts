import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigFaults, readConfig } from './config.ts';

const settings = {
  DATABASE_URL: 'postgres://127.0.0.1/none',
  STRIPE_EMULATOR_URL: 'http://127.0.0.1:1',
  HUBSPOT_EMULATOR_URL: 'http://127.0.0.1:1',
  MAIL_EMULATOR_URL: 'smtp://127.0.0.1:1',
};

test('nobody is told how a server does unless a setting says so, and load is shed unless limits are off', () => {
  const { metricsPort, otlpEndpoint, shedding } = readConfig(settings);
  assert.equal(metricsPort, null);
  assert.equal(otlpEndpoint, null);
  assert.equal(shedding.eventLoopDelayMs, 250);
  assert.ok(shedding.heapBytes > 100_000_000);
  const off = readConfig({ ...settings, LIMITS: 'off', METRICS_PORT: '9464' });
  assert.deepEqual(off.shedding, { eventLoopDelayMs: 0, heapBytes: 0, rssBytes: 0 });
  assert.equal(off.metricsPort, 9464);
  assert.equal(readConfig({ ...settings, SHED_RSS_MB: '300' }).shedding.rssBytes, 300 * 1_048_576);
});

test('mistakes in them are told like all others', () => {
  const wrong = {
    METRICS_PORT: '70000',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
    SHED_HEAP_MB: 'much',
  };
  assert.throws(
    () => readConfig({ ...settings, ...wrong }),
    (error: ConfigFaults) =>
      error instanceof ConfigFaults &&
      Object.keys(wrong).every((name) => error.faults.some((fault) => fault.startsWith(name))),
  );
});
