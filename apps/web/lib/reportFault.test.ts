import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOf } from './reportFault.ts';

const at = (error: Error, stack: string) => Object.assign(error, { stack });

test('of an error only its name, its place in our scripts and the screen are reported', () => {
  const secret = new TypeError('Jordan Rivera <jordan@example.com> is undefined');
  const stack = `${secret.message}
    at open (chrome-extension://abc/inject.js:1:2)
    at Screen (https://join.example/static/js/async/checkout.5f3a.js:1:2345)
    at https://join.example/static/js/index.1b.js:7:8`;
  assert.deepEqual(faultOf(at(secret, stack), '/registration/checkout'), {
    error: 'TypeError',
    at: 'async/checkout.5f3a.js:1:2345',
    screen: 'checkout',
  });
});

test('an error of React has its number, and what is thrown and no error its type', () => {
  const hydration = at(
    new Error('Minified React error #418; visit https://react.dev/errors/418?args[]=Jordan'),
    '',
  );
  assert.deepEqual(faultOf(hydration, '/verify/7K3M-9QXR'), {
    error: 'Error #418',
    at: '',
    screen: 'verify',
  });
  assert.deepEqual(faultOf('Jordan', '/jordan'), { error: 'string', at: '', screen: 'other' });
});
