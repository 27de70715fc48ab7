import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { importInvitations } from '../../apps/server/joining/invitations/importInvitations.ts';
import { connect } from '../../apps/server/platform/database/client.ts';
import { readSociety } from '../../apps/server/society/readSociety.ts';
import { DEMO_CONTACTS } from '../../emulators/hubspot/seed.ts';
import { npmStartApart } from '../harness/npmStart.ts';
import { askHubspot } from '../harness/providers.ts';
import { societyFile } from '../harness/standIns.ts';

/** The number of personal invitations to make. Each is for one test. */
const INVITATIONS = 60;

/** Starts `npm start` once for all browser tests, with its own data, and makes invitations. Returns a function that stops it. */
export default async function start(): Promise<() => Promise<void>> {
  const induct = await npmStartApart();
  try {
    process.env.E2E_INDUCT = JSON.stringify({ folder: induct.folder, ...induct.local });
    await invite(induct);
  } catch (error) {
    await induct.end();
    throw error;
  }
  return induct.end;
}

/** Creates contacts with complete records in HubSpot, and imports their codes. */
async function invite({ local, folder }: Awaited<ReturnType<typeof npmStartApart>>): Promise<void> {
  // The properties of a demo contact, without invite code and school. The code is imported with the invitation, and no school has
  // nominated these contacts.
  const { invitation_code: _code, school_name: _school, ...jordan } = DEMO_CONTACTS[0]!.properties;
  const record = { ...jordan, high_school_graduation_year: String(new Date().getFullYear() + 1) };
  const lines = ['code,contactId,firstName,lastName,email,school'];
  for (let number = 1; number <= INVITATIONS; number++) {
    const email = `jordan.rivera.${number}@example.com`;
    const { id } = await askHubspot(local.hubspot!.url, 'POST', '', {
      properties: { ...record, email, personal_email: email },
    });
    lines.push(`JOURNEY${number},${id},Jordan,Rivera,${email},`);
    writeFileSync(join(folder, `invitation-${number}`), String(id));
  }
  const file = join(folder, 'invitations.csv');
  writeFileSync(file, `${lines.join('\n')}\n`);
  const database = connect(local.database.url);
  try {
    const { added } = await importInvitations(database, file, readSociety(societyFile));
    if (added !== INVITATIONS) throw new Error(`Only ${added} invitations were imported.`);
  } finally {
    await database.destroy();
  }
}
