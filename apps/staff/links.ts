import { open, rm } from 'node:fs/promises';
import { contactIdFault } from '#core/csv.ts';
import { parseDollars } from '#core/money.ts';
import { MOST_DAYS, planLinks } from '../server/joining/links/planLinks.ts';
import { previewLink } from '../server/joining/links/previewLink.ts';
import { isPictureName, pictureOf } from '../server/joining/links/qrPicture.ts';
import type { Recipient } from '../server/joining/links/recipients.ts';
import { revokePass } from '../server/joining/pass/revoke.ts';
import { Failed } from '../server/platform/failed.ts';
import { fileFaultOf } from '../server/platform/fileFault.ts';
import { type CsvRow, readCsv } from '../server/platform/readCsv.ts';
import type { LinkTarget } from '../server/session/links.ts';
import { command, Misuse, noJoin } from './command.ts';
import { minute, print, printAll, printCsvLine, warn } from './print.ts';

/** How many rows of a file are looked up together: HubSpot's largest batch. */
const BATCH = 100;

export const linkCommands = [
  command({
    usage:
      'links init|checkout|resume CONTACT_ID|FILE.csv [--mp PRODUCT] [--usp PRODUCT] [--price DOLLARS] [--days DAYS] [--qr FILE.svg|FILE.png]',
    args: ['init|checkout|resume', 'SUBJECT'],
    texts: { mp: '[PRODUCT]', usp: '[PRODUCT]', price: '[DOLLARS]', days: '[DAYS]', qr: '[TEXT]' },
    summary:
      "Print a signed link to a contact's page, good for DAYS days (30); of a file with the column contactId, a line `contactId,link` for each. For whom it is and what it sells is told beside it. --qr: write its code to a new file, too.",
    async run(deps, [given, subject], { days = '30', price, qr, mp, usp }) {
      const kind = given as LinkTarget['kind'];
      if (Number(days) > MOST_DAYS) throw new Misuse();
      const parameters = {
        ...(mp === undefined ? {} : { mp }),
        ...(usp === undefined ? {} : { usp }),
        ...(price === undefined ? {} : { c: String(parseDollars(price)) }),
      };
      if (kind !== 'checkout' && Object.keys(parameters).length > 0) throw new Misuse();
      const notContact = contactIdFault(subject);
      const isFile = notContact !== null;
      if (isFile && !/\.csv$/i.test(subject)) throw new Misuse(notContact);
      if (qr !== undefined && isFile) throw new Misuse('--qr is for a single link, not for a file.');
      if (qr !== undefined && !isPictureName(qr))
        throw new Misuse(`--qr writes a file that ends with .svg or .png, not "${qr}".`);
      const { does, expires, ...plan } = planLinks(deps, { kind, parameters, days: Number(days) });
      const signing: Signing = { ...plan, does: `${does}; expires ${minute(expires)}` };
      return isFile ? signAll(subject, signing) : signOne(subject, signing, qr);
    },
  }),
  command({
    usage: 'links check URL',
    args: ['URL'],
    summary:
      'Show what a link would do: contact, product, price, floor, expiry; and whether it may be followed.',
    async run(deps, [text]) {
      const { lines, isGood } = await previewLink(deps, new URL(text));
      printAll(lines);
      return isGood;
    },
  }),
  command({
    usage: 'links revoke JOIN',
    args: ['JOIN'],
    summary:
      'Revoke every link that was mailed for a join, and its code. A new one can be asked for at Get Started.',
    async run(deps, [uuid]) {
      if (!(await revokePass(deps, uuid))) throw new Failed(noJoin(uuid));
      print('Revoked. Letters that are sent from now on have a link that opens the join.');
    },
  }),
];

interface Signing {
  lookUp(contactIds: readonly string[]): Promise<Recipient[]>;
  mint(contactId: string): string;
  /** The effect of each link, and until when it works. */
  does: string;
}

async function signOne(
  contactId: string,
  { lookUp, mint, does }: Signing,
  qr: string | undefined,
): Promise<boolean> {
  const [recipient] = await lookUp([contactId]);
  if (!printRecipient(recipient!, does)) return false;
  const link = mint(contactId);
  const fault = qr === undefined ? null : await writeNew(qr, pictureOf(link, qr));
  if (fault !== null) throw new Failed(`No link is printed: ${fault}`);
  print(link);
  return true;
}

/**
 * Prints to standard error the recipient of a link and the link's effect, or the reason why no link is signed. Returns whether a
 * link is signed.
 */
function printRecipient({ who, refusal, isLookedUp }: Recipient, does: string, before = ''): boolean {
  const what = refusal === null ? does : `no link is signed, since the contact ${refusal}`;
  warn(`${before}${who}: ${what}.`);
  if (refusal === null && !isLookedUp) warn(`${before}${who} could not be looked up in HubSpot.`);
  return refusal === null;
}

/** Writes a new file. Returns null if it was written; otherwise a sentence, for example if the file exists. */
async function writeNew(path: string, bytes: Buffer): Promise<string | null> {
  try {
    const file = await open(path, 'wx');
    try {
      await file.writeFile(bytes);
      await file.close();
      return null;
    } catch (error) {
      await file.close().catch(() => {});
      await rm(path, { force: true });
      throw error;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return `${path} is there already.`;
    const fault = fileFaultOf(error);
    if (fault === null) throw error;
    return fault;
  }
}

/** Signs a link for each row of a CSV file, some rows at a time, so that memory does not grow with the file. */
async function signAll(file: string, signing: Signing): Promise<boolean> {
  const { rows } = await readCsv(file, { needed: ['contactId'] });
  printCsvLine(['contactId', 'link']);
  let refused = 0;
  let batch: CsvRow<'contactId'>[] = [];
  for await (const row of rows) {
    batch.push(row);
    if (batch.length < BATCH) continue;
    refused += await signRows(batch, signing);
    batch = [];
  }
  refused += await signRows(batch, signing);
  return refused === 0;
}

/** Returns how many of the rows got no link. */
async function signRows(
  rows: readonly CsvRow<'contactId'>[],
  { lookUp, mint, does }: Signing,
): Promise<number> {
  const checked = rows.map(({ line, values, fault }) => ({
    line,
    contactId: values?.contactId ?? '',
    wrong: fault === null ? contactIdFault(values.contactId) : fault,
  }));
  const recipients = await lookUp(
    checked.filter(({ wrong }) => wrong === null).map(({ contactId }) => contactId),
  );
  let refused = 0;
  for (const { line, contactId, wrong } of checked) {
    if (wrong !== null) warn(`line ${line}: ${wrong}`);
    const isSigned = wrong === null && printRecipient(recipients.shift()!, does, `line ${line}: `);
    if (isSigned) printCsvLine([contactId, mint(contactId)]);
    else refused++;
  }
  return refused;
}
