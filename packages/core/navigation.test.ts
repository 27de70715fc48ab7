import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linkedScreen, passPath, queryForGetStarted, screenAt, screens, visit } from './navigation.ts';

/**
 * Each path of the specification, section 2, and whether it is shown without and with a stored session. A path that is not shown
 * redirects to /.
 */
const table: [path: string, without: boolean, withSession: boolean][] = [
  ['/', true, true],
  [screens.getStarted, true, true],
  ['/registration/101/init', true, true],
  ['/registration/abc/init', true, true],
  [screens.studentDetails, false, true],
  [screens.membership, false, true],
  [screens.checkout, false, true],
  [screens.postPayment, false, true],
  [screens.upgrade, false, true],
  [screens.uploadTranscript, false, true],
  [screens.congratulations, false, true],
  [screens.initiateUpgrade, true, true],
  [screens.initializeCheckout, true, true],
  ['/upload-resume/101', true, true],
  ['/upload-resume/', true, true],
  ['/upload-resume', false, true],
  ['/upload/Zm9vYmFyYmF6cXV4cXV1eA', true, true],
  ['/verify/7K3M-9QXR', true, true],
  ['/VERIFY/7k3m9qxr/', true, true],
  ['/verify', true, true],
  ['/verify/a/b', false, true],
  ['/verifying', false, true],
  ['/upload/', false, true],
  [screens.pass, true, true],
  ['/pass/', true, true],
  ['/pass/a', false, true],
  ['/upload/a/b', false, true],
  ['/registration/a/b/init', false, true],
  ['/registration//init', false, true],
  ['/registration/101/init/more', false, true],
  ['/somewhere/else', false, true],
  ['/registration', false, true],
];
for (const [path, without, withSession] of table) {
  test(`${path} without a session is ${without ? 'shown' : 'sent to /'}`, () => {
    assert.deepEqual(visit(path, false), without ? { allowed: true } : { allowed: false, redirectTo: '/' });
  });
  test(`${path} with a session is ${withSession ? 'shown' : 'sent to /'}`, () => {
    assert.deepEqual(
      visit(path, true),
      withSession ? { allowed: true } : { allowed: false, redirectTo: '/' },
    );
  });
}

test('the site has its screens, whatever their letters and the slash at their end, and nothing else', () => {
  const has = (path: string) => screenAt(path) !== null;
  const there = [
    ...Object.values(screens),
    '/',
    '/registration/101/init',
    '/upload-resume/101',
    '/upload-resume',
    '/upload/abc',
    '/verify',
    '/Verify/7K3M-9QXR',
  ];
  assert.deepEqual(
    there.filter((path) => !has(path)),
    [],
  );
  assert.deepEqual(
    ['/Registration/Checkout', '/registration/checkout/', '/registration/101/init/'].filter(has).length,
    3,
  );
  const elsewhere = [
    '/metrics',
    '/wp-login.php',
    '/registration',
    '/upload',
    '/upload/a/b',
    '/verify/a/b',
    '/registration//init',
    '/initialize',
    '/registration/checkout.php',
    '//registration/checkout',
  ];
  assert.deepEqual(elsewhere.filter(has), []);
});

test('of a query only the programme goes along to Get Started', () => {
  assert.equal(queryForGetStarted('?payment_intent_client_secret=pi_1_secret_2&redirect_status=failed'), '');
  assert.equal(
    queryForGetStarted('?a=1&programme=undergraduate&client_secret=x'),
    '?programme=undergraduate',
  );
  assert.equal(queryForGetStarted('?programme=a%26client_secret%3Dx'), '?programme=a%26client_secret%3Dx');
  assert.equal(queryForGetStarted(''), '');
});

test('a link in a letter names a screen that letters lead to, and no other', () => {
  const named = (path: string) => linkedScreen(new URL(path, 'https://a.example').search);
  assert.equal(named(passPath('uploadTranscript')), screens.uploadTranscript);
  assert.equal(named(passPath()), null);
  for (const other of ['studentDetails', 'https://evil.example', '//evil.example', 'constructor', ''])
    assert.equal(named(`/pass?to=${other}`), null, other);
});
