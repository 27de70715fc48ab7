import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigFaults } from '../../apps/server/platform/config/config.ts';
import { startTestServer } from './testServer.ts';

// If the test server left anything running, the process of this file would never end.
test('a test server whose settings are wrong says so, and leaves nothing running', async () => {
  await assert.rejects(startTestServer({ LINK_SECRET: 'short' }), ConfigFaults);
});
