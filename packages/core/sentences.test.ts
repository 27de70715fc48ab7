import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentenceOfProxy, toastFor } from './sentences.ts';

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

for (const [status, sentence] of [
  [413, /larger than our server accepts\. Please send something smaller/],
  [502, /cannot be reached right now\. Please try again in a minute/],
  [503, /cannot be reached right now\. Please try again in a minute/],
  [504, /cannot be reached right now\. Please try again in a minute/],
  [200, /Something else answered instead of our server\. Please check/],
  [302, /Something else answered instead of our server\. Please check/],
  [500, undefined],
  [404, undefined],
] as const)
  test(`an answer of ${status} that is not ours is ${sentence ? 'a sentence' : 'told like any failure'}`, () => {
    if (sentence) assert.match(sentenceOfProxy(status)!, sentence);
    else assert.equal(sentenceOfProxy(status), undefined);
  });
