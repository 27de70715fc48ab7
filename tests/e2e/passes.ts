import { expect, type Page } from '@playwright/test';
import { type ParsedMail, simpleParser } from 'mailparser';
import pg from 'pg';
import { stopLinks } from '../../apps/server/letters/stopLinks.ts';
import { sealedPasses } from '../../apps/server/session/passes.ts';
import type { KeptLetter } from '../../emulators/mail/server.ts';
import type { LinkedScreen } from '../../packages/core/navigation.ts';
import { control } from '../harness/providers.ts';
import { call, orderingJoin } from './arrange.ts';
import { theInduct } from './fixtures.ts';

/** Queries the server's database. */
export async function query<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
  const database = new pg.Client({ connectionString: theInduct().database.url });
  await database.connect();
  const { rows } = await database.query<Row>(text, values);
  await database.end();
  return rows;
}

async function secret(name: string): Promise<string> {
  return (await query<{ value: string }>('select value from secret where name = $1', [name]))[0]!.value;
}

/** Returns a link to a join as the server's letters contain it. `madeAt` is when the letter was written. */
export async function linkOf(
  uuid: string,
  screen?: LinkedScreen,
  madeAt: Date = new Date(),
): Promise<string> {
  return sealedPasses([await secret('link')], theInduct().server.url, () => madeAt).address(uuid, screen);
}

/** Returns the URL of the page that stops an email's reminders, as the reminders contain it. */
export async function stopPageOf(email: string): Promise<string> {
  const addresses = { publicUrl: theInduct().server.url, apiUrl: '' };
  return stopLinks(await secret('reminder stops'), addresses).pageAddress(email);
}

/** Waits for a letter to this address whose subject contains the text `subject`. Returns the newest such letter. */
export async function letterTo(email: string, subject: string): Promise<ParsedMail> {
  const find = async () =>
    (await control<KeptLetter[]>(new URL(theInduct().mail.url).origin, 'GET', 'letters')).find(
      (letter) => letter.to === email && letter.subject.includes(subject),
    );
  await expect.poll(find).toBeTruthy();
  return simpleParser((await find())!.raw);
}

/**
 * Makes a join at Checkout as if on another device. Afterwards this browser has neither the join's cookie nor its stored session.
 */
export async function joinElsewhere(page: Page): Promise<string> {
  const start = async (one: Page) =>
    (await call(one, 'initiateSchoolJoin', {}, { invitationCode: 'LINCOLN2026' })).uuid as string;
  const uuid = await orderingJoin(page, start);
  await page.context().clearCookies();
  return uuid;
}
