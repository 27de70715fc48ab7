import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ActionFunctionArgs, ShouldRevalidateFunctionArgs } from 'react-router';
import type { Site } from '#contract/schemas.ts';
import { forgetSession, storeSession } from '../../lib/session.ts';
import { setSite } from '../../lib/site.ts';
import { setToaster } from '../../lib/toasts.ts';
import { action, shouldRevalidate } from './action.ts';

/**
 * Chooses a membership that the server refuses with this status. Returns the screen's error, and whether the screen loads its
 * data again.
 */
async function refused(t: TestContext, status: number): Promise<{ error: string; isLoadedAgain: boolean }> {
  setSite({ apiUrl: '' } as Site);
  setToaster(async () => ({ showToast: async () => {} }));
  const failure = { success: false, status: 'error', message: 'Not this one.' };
  const { mock } = t.mock.method(globalThis, 'fetch', async () => Response.json(failure, { status }));
  storeSession('11111111-1111-4111-8111-111111111111', 'high-school');
  t.after(forgetSession);
  const body = JSON.stringify({ membershipId: 1 });
  const request = new Request('http://localhost/', { method: 'POST', body });
  const actionResult = (await action({ request } as ActionFunctionArgs)) as { error: string };
  // If a function is mocked twice in a test, Node restores the first mock at the end instead of the original function.
  mock.restore();
  const asked = { formMethod: 'POST', actionResult, defaultShouldRevalidate: true };
  return {
    error: actionResult.error,
    isLoadedAgain: shouldRevalidate(asked as unknown as ShouldRevalidateFunctionArgs),
  };
}

test('after a refusal that says that the screen is outdated, the memberships are loaded again', async (t) => {
  assert.deepEqual(await refused(t, 404), { error: 'Not this one.', isLoadedAgain: true });
  assert.deepEqual(await refused(t, 409), { error: 'Not this one.', isLoadedAgain: true });
});

test('after any other failure the memberships stay as they are', async (t) => {
  assert.deepEqual(await refused(t, 503), { error: 'Not this one.', isLoadedAgain: false });
});
