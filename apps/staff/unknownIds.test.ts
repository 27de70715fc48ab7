import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../../tests/harness/runCommand.ts';
import { sharedServer } from '../../tests/harness/testServer.ts';
import { commandNamed } from './command.ts';
import { commands } from './commands.ts';

/** No command answers the id of something that is not there as if it were, or as if it had nothing. */
const server = await sharedServer({ PUBLIC_URL: 'https://join.society.example' });

const uuid = randomUUID();
const intent = 'pi_0Unknown0000000000000';
const contact = '987654399';
const file = join(tmpdir(), `induct-unknown-${uuid}.pdf`);

/** What is typed with an unknown id, for each command that takes one. */
const unknown = [
  `contacts diff ${uuid}`,
  `contacts retry ${uuid}`,
  `person correct ${uuid} --email new@example.com`,
  `person correct ${contact} --email new@example.com`,
  `person merge ${uuid} 103`,
  `person merge 103 ${contact}`,
  `person unmerge ${uuid}`,
  `person keep-apart ${uuid} 103`,
  `person keep-apart 103 ${uuid}`,
  `links init ${contact}`,
  `links checkout ${contact}`,
  `links resume ${contact}`,
  `links revoke ${uuid}`,
  `find ${uuid}`,
  `find ${intent}`,
  `find ${contact}`,
  `certificate ${uuid} ${file}`,
  `story ${uuid}`,
  `refund ${uuid}`,
  `refund ${uuid} --ineligible`,
  `refund ${intent}`,
  `refund assign ${uuid}`,
  `refund assign ${uuid} --none`,
  'refund assign re_0Unknown000000000',
  `settle ${uuid}`,
  `settle ${intent}`,
  `orders show ${uuid}`,
  `orders ship ${uuid}`,
  `orders unship ${uuid}`,
  `documents show ${uuid}`,
  `documents show ${contact}`,
  `documents add ${uuid} ${import.meta.filename}`,
  `documents accept ${uuid}`,
  `documents reject ${uuid} --reason outdated`,
  `documents reject ${uuid} --reason outdated --final`,
  `documents fetch ${uuid} ${file}`,
  `documents unknown fetch ${uuid} ${file}`,
  `documents unknown remove ${uuid}`,
  `letters list ${uuid}`,
  `letters show ${uuid}`,
  `letters retry ${uuid}`,
];

test('every command says of an id that does not exist that it does not', async (t) => {
  const isSaid =
    /there is no|no such|is there no|nobody was found|is known neither|neither .* knows?\b|knows? (nothing|no )|not (a |among |known|found)/i;
  const wrong: string[] = [];
  for (const typed of unknown) {
    const { out, code } = await runCommand(t, server, typed, []);
    if (code !== 1 || !isSaid.test(out)) wrong.push(`${typed} → ${code}: ${out}`);
  }
  assert.deepEqual(wrong, []);
});

test('every command that takes an id is asked for an unknown one', () => {
  const takes = commands.filter(({ usage }) =>
    /\b(JOIN|LETTER|DOCUMENT|KEY|REFUND|PAYMENT_INTENT|CONTACT(_ID)?)\b/.test(usage),
  );
  const asked = unknown.map((typed) => commandNamed(commands, typed.split(' '))!.command);
  assert.deepEqual(
    takes.filter((command) => !asked.includes(command)).map(({ usage }) => usage),
    [],
  );
});
