import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toastFor } from './sentences.ts';

const toasts: [number, string | undefined, string, string][] = [
  [401, 'anything', 'Unauthorized', 'Please log in again.'],
  [400, 'anything', 'Bad Request', 'There was a problem with your request.'],
  [500, undefined, 'Error', 'An error occurred.'],
  [500, '', 'Error', 'An error occurred.'],
  [409, 'Your order has changed.', 'Error', 'Your order has changed.'],
  [404, 'Not found.', 'Error', 'Not found.'],
];
for (const [status, message, title, text] of toasts)
  test(`a ${status} with ${JSON.stringify(message)} raises the toast ${title}: ${text}`, () => {
    assert.deepEqual(toastFor(status, message), { title, text });
  });
