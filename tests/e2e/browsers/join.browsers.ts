import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { png } from '../../harness/documents.ts';
import { npmStartApart } from '../../harness/npmStart.ts';
import { details } from '../arrange.ts';
import { stripe } from '../providers.ts';
import { firefoxProgram, startFirefox } from './firefox.ts';
import type { Defer, Hands } from './hands.ts';
import { screenProgram, startWebKit, webkitProgram } from './webkit.ts';

// Tests the whole join in Firefox and WebKit, where these are installed.

const firefox = firefoxProgram();
const webkit = webkitProgram();
const screen = screenProgram();

let induct: Awaited<ReturnType<typeof npmStartApart>> | undefined;
before(async () => {
  if (firefox || (webkit && screen)) induct = await npmStartApart();
});
after(() => induct?.end());

test(
  'the whole join in Firefox',
  { skip: !firefox && 'Firefox is not installed (apt-get install firefox-esr)' },
  (t) => joinIn(t, (defer) => startFirefox(firefox!, defer)),
);

test(
  'the whole join in WebKit',
  { skip: !(webkit && screen) && 'WebKit is not installed (apt-get install webkit2gtk-driver xvfb)' },
  (t) => joinIn(t, (defer) => startWebKit(webkit!, screen!, defer)),
);

async function joinIn(t: TestContext, start: (defer: Defer) => Promise<Hands>): Promise<void> {
  const tasks: (() => Promise<void>)[] = [];
  t.after(async () => {
    for (const task of tasks.reverse()) await task();
  });
  const hands = await start((task) => tasks.push(task));
  try {
    await walk(hands);
  } catch (error) {
    const pictures = resolve(import.meta.dirname, '../../../test-results');
    mkdirSync(pictures, { recursive: true });
    const picture = join(pictures, `${hands.name.replaceAll(/\W+/g, '-')}.png`);
    writeFileSync(picture, await hands.picture());
    console.error(`What ${hands.name} showed: ${picture}`);
    throw error;
  }
}

/** Joins from an invite code to the welcome page, by real input alone. */
async function walk(hands: Hands): Promise<void> {
  const { open, see, press, tick, fill, fillIn, choose } = hands;
  const given = details();
  const fits = async (screen: string) =>
    assert.equal(await hands.overhang(), 0, `${screen} hangs over the side`);

  await open(induct!.url);
  await see('heading', 'Get Started');
  await fits('Get Started');
  await fill('Invite code', 'LINCOLN2026');
  await press('button', 'Submit');

  await see('heading', 'Student Details');
  await fill('First name', given.firstName);
  await fill('Last name', given.lastName);
  await fill('Personal email', given.personalEmail);
  await fill('Address line 1', given.address1);
  await fill('City', given.city);
  await choose('State/Province', given.state);
  await fill('Zipcode', given.zipcode);
  await choose('Graduation year', given.highSchoolGraduationYear);
  await choose('High school GPA', given.highSchoolGpa);
  await fits('Student Details');
  await press('button', 'Save');
  await see('heading', 'There is a problem');
  await tick('I agree to the policies');
  await press('button', 'Save');

  await see('heading', 'Choose your membership');
  await fits('Membership');
  await press('button', 'Choose this membership: Membership');

  await see('heading', 'Checkout');
  await press('button', 'Donate $25');
  await see('text', '$90.00');
  await fits('Checkout');
  const card = 'Secure payment input frame';
  await fillIn(card, 'Card number', '4242424242424242');
  await fillIn(card, 'Expiration date', '1234');
  await fillIn(card, 'Security code', '123');
  await press('button', 'Buy Now');

  await see('heading', 'Congratulations, you are a member!');
  await fits('Upgrade');
  const intent = new URL(await hands.address()).searchParams.get('payment_intent')!;
  assert.deepEqual(await stripe(induct!.local.stripe!).taken(intent), [9000]);
  await press('button', 'Skip');

  await see('text', 'Jordan, you are now a member of Collegiate Honor Society.');
  await fits('Congratulations');
  await open(`${induct!.url}/registration/upload-transcript`);
  await see('button', 'Choose a file');
  const file = join(induct!.folder, 'transcript.png');
  writeFileSync(file, png());
  await hands.attach(file);
  await see('text', 'transcript.png');
  await press('link', 'Continue');
  await see('heading', 'Congratulations');
}
