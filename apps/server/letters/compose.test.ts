import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { simpleParser } from 'mailparser';
import { letterKinds } from '#core/letterKinds.ts';
import { displayPrice } from '#core/money.ts';
import type { OrderLine } from '#core/orderLine.ts';
import { productTypes } from '#core/product.ts';
import { REJECTED_FINALLY, REJECTED_WITHOUT_REFUND, rejectionReasons } from '#documents/document.ts';
import { sampleLetter, sampleMails, sampleNow, sampleWriting } from '../../../tests/harness/sampleLetters.ts';
import { societyFile } from '../../../tests/harness/standIns.ts';
import type { MailSettings } from '../platform/config/mail.ts';
import { messageOf } from '../providers/mail/client.ts';
import { compose } from './compose.ts';
import type { Letter } from './takeLetter.ts';

const writing = sampleWriting();
const write = (kind: (typeof letterKinds)[number], change: Partial<Letter> = {}) =>
  compose(writing, sampleLetter(kind, change), sampleNow)!;
/** Returns the visible text of an HTML letter. */
const wordsOf = (html: string) =>
  html
    .replace(/<style>.*?<\/style>|<title>.*?<\/title>/gs, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code))
    .replace(/\s+/g, ' ');

test('every letter has no gap, no remote picture and no script, and fits a phone', () => {
  for (const { kind, mail } of sampleMails()) {
    for (const text of [mail.subject, mail.text, mail.html.replace(/<style>.*<\/style>/s, '')])
      assert.doesNotMatch(text, /[{}]|undefined|null|\[object/, kind);
    assert.doesNotMatch(mail.html, /<script|<form|<link|@import|url\(|src="http|javascript:/i, kind);
    assert.deepEqual(
      [...mail.html.matchAll(/src="([^"]*)"/g)].map(([, source]) => source),
      [`cid:${mail.pictures[0]!.cid}`],
    );
    assert.match(mail.html, /max-width:600px/);
    // Lines that consist of a URL may be longer, since a URL cannot be wrapped.
    const lines = mail.text.split('\n').filter((line) => !/^https?:\S+$/.test(line));
    assert.ok(Math.max(...lines.map((line) => line.length)) <= 76, kind);
    assert.ok(mail.subject.length <= 60, `${kind}: ${mail.subject}`);
    assert.doesNotMatch(mail.subject, /!|[A-Z]{4,}/, 'subjects do not shout');
    assert.ok(mail.html.length < 30_000, 'clients cut off long letters');
    assert.ok((mail.html.match(/class="button"/g) ?? []).length <= 1, kind);
  }
});

test('two letters have one Message-ID when they are of one kind, join and occasion, and in no other case', () => {
  const idOf = (change: Partial<Letter>, kind: Letter['kind'] = 'proof-due', environment = 'live') =>
    compose({ ...writing, environment }, sampleLetter(kind, change), sampleNow)!.messageId;
  const letter = { sessionUuid: '00000000-0000-4000-8000-000000000001', occasion: 'pi_1 14' };
  const again = {
    ...letter,
    id: 'another row',
    attempts: 7,
    dueAt: new Date(0),
    emails: ['new@example.com'],
  };
  assert.equal(idOf(again), idOf(letter), 'sent again, as after a restore');
  const all = [
    idOf(letter),
    idOf({ ...letter, occasion: 'pi_1 5' }),
    idOf({ ...letter, sessionUuid: '00000000-0000-4000-8000-000000000002' }),
    idOf({ ...letter, sessionUuid: null }),
    idOf({ occasion: 'pi_1 5', sessionUuid: null }),
    idOf(letter, 'portal'),
    idOf(letter, 'proof-due', 'staging'),
  ];
  assert.equal(new Set(all).size, all.length);
});

test('text and HTML of a letter say the same', () => {
  for (const { kind, mail } of sampleMails()) {
    const html = wordsOf(mail.html);
    const words = mail.text.split(/\s+/).filter((word) => /^[\w$]/.test(word) && !word.startsWith('http'));
    assert.deepEqual(
      words.filter((word) => !html.includes(word.replace(/[:.,]+$/, ''))),
      [],
      kind,
    );
  }
});

test('a letter arrives as it was written', async () => {
  for (const { kind, mail } of sampleMails()) {
    const parsed = await simpleParser(await messageOf(mail));
    assert.deepEqual([parsed.subject, parsed.text?.trim()], [mail.subject, mail.text.trim()], kind);
    assert.match(String(parsed.html), /max-width:600px/);
  }
});

const anyLine = fc.record({
  productId: fc.integer({ min: 1, max: 99 }),
  type: fc.constantFrom(...productTypes),
  name: fc.constantFrom('Membership', 'Scholarship fund', 'Donation', 'A & B <i>', 'x'.repeat(90)),
  priceCents: fc.integer({ min: 50, max: 1_000_000 }),
});
test('a receipt names each line with its cents, calls donations so, and its total is what was paid', () => {
  fc.assert(
    fc.property(fc.array(anyLine, { minLength: 1, maxLength: 12 }), (lines: OrderLine[]) => {
      const amountCents = lines.reduce((sum, { priceCents }) => sum + priceCents, 0);
      const payment = { ...sampleLetter('confirmation').payment!, lines, amountCents };
      const { text, html } = write('confirmation', { payment });
      const end = text.indexOf('\nPaid on');
      const table = text.slice(text.lastIndexOf('\n\n', end - 2), end).trim();
      const amounts = [...table.matchAll(/ (\$[\d,.]+)$/gm)].map(([, amount]) => amount);
      const expected = [
        ...lines.map(({ priceCents }) => displayPrice(priceCents)),
        displayPrice(amountCents),
      ];
      assert.deepEqual(amounts, expected);
      assert.deepEqual(
        [...html.matchAll(/nowrap[^>]*>(\$[\d,.]+)</g)].map(([, amount]) => amount),
        expected,
      );
      for (const { type, name } of lines)
        if (type.startsWith('donation') && name === 'Scholarship fund')
          assert.match(text, /Donation: Scholarship fund/);
    }),
  );
});

test('what is not known takes its paragraph with it', () => {
  const plain = write('confirmation', {
    memberNumber: null,
    isSelfNomination: false,
    programme: 'high-school',
  });
  assert.doesNotMatch(plain.text, /member number|proof of eligibility/);
  const full = write('confirmation');
  assert.match(full.text, /Your member number is 7K3M-9QXR\./);
  assert.match(full.text, /due by December 23, 2026/);
  assert.doesNotMatch(write('confirmation', { hasProof: true }).text, /due by/, 'who has sent it');
  assert.match(write('confirmation', { firstName: null }).text, /^Hello,/);
  const noCard = { ...sampleLetter('confirmation').payment!, card: null };
  assert.match(write('confirmation', { payment: noCard }).text, /Paid on November 23, 2026\nReference/);
});

test('a rejection gives its reason and where to upload another one; a final one what has happened', () => {
  for (const reason of Object.keys(rejectionReasons) as (keyof typeof rejectionReasons)[]) {
    const { text } = write('proof-rejected', { data: { reason, isFinal: false } });
    assert.ok(text.replace(/\n/g, ' ').includes(rejectionReasons[reason]));
    assert.match(text, /\/pass\?to=uploadTranscript#/);
  }
  for (const [isReturned, sentence] of [
    [true, REJECTED_FINALLY],
    [false, REJECTED_WITHOUT_REFUND],
  ] as const) {
    const final = write('proof-rejected', { data: { reason: 'outdated', isFinal: true }, isReturned });
    assert.ok(final.text.replace(/\n/g, ' ').includes(sentence));
    assert.doesNotMatch(final.text, /uploadTranscript|due by/);
  }
});

test('days that are left are counted in full, and one is one day', () => {
  const at = (days: number) => new Date(sampleNow.getTime() - days * 86_400_000 - 1_000);
  assert.equal(write('proof-due', { paidAt: at(16) }).subject, 'Your transcript is due in 14 days');
  assert.equal(write('proof-due', { paidAt: at(29) }).subject, 'Your transcript is due in 1 day');
});

test('the date on which the proof is due can be put into a calendar, while a proof is owed', () => {
  const entry = /\/api\/public\/proof-due\/\d{4}-\d\d-\d\d\/calendar\.ics/;
  for (const kind of ['confirmation', 'proof-due'] as const) {
    assert.match(write(kind, { isSelfNomination: true, hasProof: false }).html, entry, kind);
    assert.doesNotMatch(write(kind, { hasProof: true }).html, entry, kind);
  }
});

test('a rejection after the last day for a transcript names no day that is over', () => {
  const reason = { data: { reason: 'outdated', isFinal: false } };
  const paidAt = new Date(sampleNow.getTime() - 40 * 86_400_000);
  assert.match(write('proof-rejected', reason).text, /It is due by /);
  assert.doesNotMatch(write('proof-rejected', { ...reason, paidAt }).text, /due by/);
});

test('the button of a letter leads to the page that it speaks of', () => {
  const screens = {
    certificate: 'congratulations',
    'proof-due': 'uploadTranscript',
    'proof-overdue': 'uploadTranscript',
    'payment-failed': 'checkout',
  } as const;
  for (const [kind, screen] of Object.entries(screens) as [keyof typeof screens, string][])
    assert.match(write(kind).text, new RegExp(`/pass\\?to=${screen}#`), kind);
  for (const kind of ['link', 'reminder-hour'] as const) assert.match(write(kind).text, /\/pass#/, kind);
});

test('a society that has a portal of its own and an address for replies is written with both', () => {
  const replyTo = { name: 'Office', address: 'office@example.com' };
  const mail = { from: { name: 'Society', address: 'letters@example.com' }, replyTo } as MailSettings;
  const { society, config } = writing;
  const letters = { ...society.letters, portal: 'https://portal.example' };
  const own = { ...writing, society: { ...society, letters }, config: { ...config, mail } };
  const letter = compose(own, sampleLetter('portal'), sampleNow)!;
  assert.match(letter.text, /^https:\/\/portal\.example$/m);
  assert.deepEqual([letter.from, letter.replyTo], [mail.from, replyTo]);
});

test('a refund of which it is not known what it was for names its amount, and all of it the lines that were paid', () => {
  const { payment } = sampleLetter('refund');
  const lines = [{ line: 0, productId: 3, name: 'Membership', cents: 300 }];
  const part = { status: 'succeeded' as const, reason: 'dashboard' as const, amountCents: 500, lines: null };
  // Lines that add up to less than the amount must not be listed.
  for (const refund of [part, { ...part, lines: [] }, { ...part, lines }]) {
    const { text } = write('refund', { refund });
    assert.deepEqual(text.match(/\$[\d.]+/g), ['$5.00', '$5.00', '$5.00'], text);
    assert.match(text, /\n\nPart of your payment {2}\$5\.00\n-+\nRefunded +\$5\.00\n/);
  }
  const all = { ...part, amountCents: payment!.amountCents };
  assert.match(
    write('refund', { refund: all }).text,
    /\nMembership +\$95\.00\nDonation to [\s\S]*\nRefunded/,
  );
  const lost = { ...payment!, lines: [] };
  assert.match(
    write('refund', { refund: all, payment: lost }).text,
    /\nYour payment +\$119\.34\n-+\nRefunded/,
  );
});

test('no table of any letter is without a line, whatever is known of the payment and its refund', () => {
  const sample = sampleLetter('refund');
  const refunds = [[], null, sample.refund!.lines].flatMap((lines) =>
    [500, 9000, sample.payment!.amountCents].flatMap((amountCents) =>
      (['duplicate', 'unconfirmed', 'requested', 'ineligible', 'dashboard'] as const).map((reason) => ({
        status: 'succeeded' as const,
        reason,
        amountCents,
        lines,
      })),
    ),
  );
  for (const kind of letterKinds)
    for (const lines of [sample.payment!.lines, []])
      for (const refund of sampleLetter(kind).refund ? refunds : [null]) {
        const payment = { ...sampleLetter(kind).payment!, lines };
        const { text, html } = write(kind, { payment, refund });
        const what = `${kind} ${JSON.stringify(refund)}`;
        assert.doesNotMatch(text, /\n\n-{3,}\n/, what);
        for (const [table] of html.matchAll(/<table width="100%" cellspacing.*?<\/table>/gs))
          assert.ok(table.split('<tr>').length > 2, what);
      }
});

/** The sentences that follow the table of a refund, on one line. */
const consequences = (change: Partial<Letter>, kind: 'refund' | 'proof-rejected' = 'refund') =>
  write(kind, change)
    .text.replace(/\s+/g, ' ')
    .match(/We ke[^.]*of \$.*? for [^.]*\.|Your [^.]* has ended\./g) ?? [];

test('a refund tells what was kept and why, and what has ended', () => {
  const sample = sampleLetter('refund');
  const [payment, refund] = [sample.payment!, sample.refund!];
  const kept = 'We kept the processing fee of $5.00, because you were not eligible for Honor Collegians.';
  const ended = 'Your membership has ended.';
  const bought = (name: string) => ({
    ...payment,
    lines: payment.lines.with(0, { ...payment.lines[0]!, name }),
  });
  const upgrade = { ...sampleLetter('upgrade').payment!, isHeld: false, isRefunded: true };
  const ofPin = {
    ...refund,
    amountCents: 1200,
    lines: [{ line: 2, productId: 30, name: 'Lapel Pin', cents: 1200 }],
  };
  for (const [change, sentences] of [
    [{}, [kept, ended]],
    [{ refund: { ...refund, reason: 'requested' } }, [ended]],
    [{ refund: { ...refund, lines: [{ ...refund.lines![0]!, cents: 9500 }] } }, [ended]],
    [{ refund: { ...refund, lines: null } }, []],
    [{ refund: { ...refund, lines: null }, payment: { ...payment, goesBack: true } }, [ended]],
    [{ payment: { ...payment, isHeld: true, isRefunded: false } }, [kept]],
    [{ held: [{ type: 'membership', name: 'Membership' }] }, [kept]],
    [{ payment: bought('Membership in Chess') }, [kept, 'Your membership in Chess has ended.']],
    [{ payment: bought('Fellowship') }, [kept, 'Your Fellowship has ended.']],
    [{ refund: ofPin }, []],
    [
      { payment: upgrade, refund: { ...refund, lines: [{ ...refund.lines![0]!, cents: 5500 }] } },
      ['Your Distinguished Member upgrade has ended.'],
    ],
    [{ payment: null }, []],
  ] as [Partial<Letter>, string[]][])
    assert.deepEqual(consequences(change), sentences, JSON.stringify(change));
});

test('a final rejection tells what was kept and why, and what has ended', () => {
  const { payment, refund, held } = sampleLetter('refund');
  const final = { data: { reason: 'outdated', isFinal: true }, isReturned: true, held };
  assert.deepEqual(consequences({ ...final, payment, refund }, 'proof-rejected'), [
    'We kept the processing fee of $5.00, because you were not eligible for Honor Collegians.',
    'Your membership has ended.',
  ]);
  assert.deepEqual(consequences({ ...final, refund: null }, 'proof-rejected'), []);
  assert.deepEqual(consequences({}, 'proof-rejected'), []);
});

test('what goes back is told as its own amount, and not as one that was paid', () => {
  const { subject } = write('refund');
  assert.equal(subject, 'Your refund of $90.00');
  assert.match(write('refund').text, /\nTo Visa ending 4242\nReference: pi_/);
  const second = write('second-payment');
  assert.match(second.text, /\nBeing refunded +\$95\.00\n/);
  assert.doesNotMatch(second.text, /Total paid/);
});

test('of a payment that bought nothing the reason is told that holds, and no other', () => {
  const upgrade = {
    ...sampleLetter('second-payment').payment!,
    lines: sampleLetter('upgrade').payment!.lines,
  };
  const told = (change: Partial<Letter>) => {
    const text = write('second-payment', change).text.replace(/\s+/g, ' ');
    return [/already have: [^.]*\./, /for the .* has ended\./].map((reason) => reason.exec(text)?.[0]);
  };
  const membership = { type: 'membership', name: 'Membership with Honor Cord' } as const;
  const held = { type: 'membership_upgrade', name: 'Upgrade' } as const;
  assert.deepEqual(told({}), ['already have: Membership.', undefined]);
  assert.deepEqual(told({ held: [{ ...membership, name: null }, membership] }), [
    'already have: Membership with Honor Cord.',
    undefined,
  ]);
  assert.deepEqual(told({ held: [{ ...membership, name: null }] }), [undefined, undefined]);
  assert.deepEqual(told({ held: [] }), [undefined, undefined], 'a membership of another amount');
  assert.deepEqual(told({ payment: upgrade, held: [membership, held] }), [
    'already have: Upgrade.',
    undefined,
  ]);
  assert.deepEqual(told({ payment: upgrade, held: [membership] }), [undefined, undefined]);
  assert.deepEqual(told({ payment: upgrade, held: [] }), [
    undefined,
    'for the Distinguished Member upgrade of a membership that has ended.',
  ]);
  assert.deepEqual(told({ payment: upgrade, held: [held] }), ['already have: Upgrade.', undefined]);
});

test('names and words of persons are text: no markup, no link, no line of a header', () => {
  const hostile = 'Ann\r\nBcc: all@evil.example';
  const letter = write('confirmation', { firstName: hostile });
  assert.doesNotMatch(letter.text, /evil/);
  const named = write('confirmation', { firstName: '"><img src=x onerror=alert(1)>' });
  assert.doesNotMatch(named.html, /<img src=x/);
  assert.match(named.html, /Hello,/);
  const subject = compose(
    {
      ...writing,
      letterTexts: {
        ...writing.letterTexts,
        portal: { ...writing.letterTexts.portal, subject: '{greeting} welcome' },
      },
    },
    sampleLetter('portal', { firstName: 'Ann\nBo\u001bb' }),
    sampleNow,
  )!.subject;
  assert.equal(subject, 'Dear Ann Bob, welcome');
  for (const firstName of ['evil.example', 'http://x', 'www', 'a@b', 'x'.repeat(61)])
    assert.match(write('portal', { firstName }).text, /^Hello,/, firstName);
  for (const firstName of ['J.R.', 'Zoë', 'Mary-Ann', "D'Arcy", 'Nguyễn Văn'])
    assert.match(write('portal', { firstName }).text, new RegExp(`^Dear ${firstName},`), firstName);
});

test('the other society of the examples has its name and colors on the same letters', () => {
  const meridian = sampleWriting(
    'https://join.meridian.example',
    join(societyFile, '../examples/meridian.yaml'),
  );
  for (const { mail } of sampleMails(meridian)) {
    assert.ok(mail.html.includes(meridian.society.society.name));
    assert.ok(mail.html.includes(meridian.society.society.colours.gold));
    assert.doesNotMatch(`${mail.html}${mail.text}`, /Collegiate Honor Society/);
  }
});
