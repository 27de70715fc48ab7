import { open, rm } from 'node:fs/promises';
import { plain } from '#core/cleanText.ts';
import { contactIdFault } from '#core/csv.ts';
import { parseDollars } from '#core/money.ts';
import type { MembershipType } from '#core/product.ts';
import { mintLink } from '../server/joining/links/mintLink.ts';
import { previewLink, previewSale } from '../server/joining/links/previewLink.ts';
import { isPictureName, pictureOf } from '../server/joining/links/qrPicture.ts';
import { type Recipient, recipientsOf } from '../server/joining/links/recipients.ts';
import { revokePass } from '../server/joining/pass/revoke.ts';
import { isUuid } from '../server/platform/database/isUuid.ts';
import { fileFaultOf } from '../server/platform/fileFault.ts';
import { type CsvRow, NotCsv, readCsv } from '../server/platform/readCsv.ts';
import type { LinkTarget } from '../server/session/links.ts';
import { type Command, misused, notId, printCsvLine, readArgs } from './command.ts';

const linksOptions = {
  mp: { type: 'string' },
  usp: { type: 'string' },
  price: { type: 'string' },
  days: { type: 'string', default: '30' },
  qr: { type: 'string' },
} as const;

/** The maximum of `--days`. Numbers of days in a society's file have the same maximum. */
const MOST_DAYS = 36_500;
/** How many rows of a file are looked up together: HubSpot's largest batch. */
const BATCH = 100;

export const linksCommand: Command = {
  options: linksOptions,
  usage:
    'links init|checkout|resume CONTACT_ID|FILE.csv [--mp ID] [--usp ID] [--price DOLLARS] [--days N] [--qr FILE.svg|FILE.png]',
  summary:
    "Print a signed link to a contact's page, good for N days (30); of a file with the column contactId, a line `contactId,link` for each. For whom it is and what it sells is told beside it. --qr: write its code to a new file, too.",
  async run(args, wired) {
    const { deps } = wired;
    const read = readArgs(args, linksOptions);
    if (!read) return misused(linksCommand);
    const { days, price, qr, ...products } = read.values;
    if (read.positionals.length !== 2) return misused(linksCommand);
    const [kind, subject] = read.positionals as [string, string];
    const numbers = [days, ...Object.values(products)];
    if (!isKind(kind) || numbers.some((number) => !/^[1-9]\d{0,8}$/.test(number)))
      return misused(linksCommand);
    if (Number(days) > MOST_DAYS) return misused(linksCommand);
    const cents = price === undefined ? undefined : parseDollars(price);
    if (cents === null)
      return misused(linksCommand, `"${price}" is not a price in dollars, such as 45 or 45.00.`);
    const parameters = { ...products, ...(cents === undefined ? {} : { c: String(cents) }) };
    if (kind !== 'checkout' && Object.keys(parameters).length > 0) return misused(linksCommand);
    const isFile = !isContactId(subject);
    if (isFile && !/\.csv$/i.test(subject)) return misused(linksCommand, contactIdFault(subject));
    if (qr !== undefined && isFile)
      return misused(linksCommand, '--qr is for a single link, not for a file.');
    if (qr !== undefined && !isPictureName(qr))
      return misused(linksCommand, `--qr writes a file that ends with .svg or .png, not "${qr}".`);
    const sale = kind === 'checkout' ? previewSale(deps.society, parameters) : null;
    if (sale && !sale.isGood) {
      console.error(['No link is signed, since it could sell nothing:', ...sale.lines].join('\n'));
      return 2;
    }
    if (sale?.isUpgradeRetired) {
      console.error(['No link is signed, since its upgrade is retired:', ...sale.lines].join('\n'));
      return 2;
    }
    const expires = new Date(deps.now().getTime() + Number(days) * 86_400_000);
    const does = { init: 'starts a join', resume: 'takes a resume', checkout: sale?.words }[kind];
    // A join is one for a membership.
    const sells: MembershipType | null =
      { init: 'membership' as const, resume: null, checkout: sale?.type }[kind] ?? null;
    const signing: Signing = {
      lookUp: (contactIds) => recipientsOf(wired.deps, contactIds, sells),
      mint: (contactId) =>
        mintLink(deps.links, deps.config.publicUrl, { kind, contactId, parameters }, expires),
      does: `${does}; expires ${expires.toISOString().slice(0, 16)}Z`,
    };
    return isFile ? signAll(subject, signing) : signOne(subject, signing, qr);
  },
};

const isContactId = (text: string) => contactIdFault(text) === null;
const isKind = (text: string): text is LinkTarget['kind'] =>
  text === 'init' || text === 'checkout' || text === 'resume';

interface Signing {
  lookUp(contactIds: readonly string[]): Promise<Recipient[]>;
  mint(contactId: string): string;
  /** What each link does, and until when. */
  does: string;
}

async function signOne(
  contactId: string,
  { lookUp, mint, does }: Signing,
  qr: string | undefined,
): Promise<number> {
  const [recipient] = await lookUp([contactId]);
  if (!tell(recipient!, does)) return 1;
  const link = mint(contactId);
  const fault = qr === undefined ? null : await writeNew(qr, pictureOf(link, qr));
  if (fault !== null) {
    console.error(`No link is printed: ${fault}`);
    return 1;
  }
  console.log(link);
  return 0;
}

/** Tells on standard error for whom a link is and what it does, or why none is signed. Returns whether one is. */
function tell({ who, refusal, isLookedUp }: Recipient, does: string, before = ''): boolean {
  console.error(
    plain(`${before}${who}: ${refusal === null ? does : `no link is signed, since the contact ${refusal}`}.`),
  );
  if (refusal === null && !isLookedUp)
    console.error(plain(`${before}${who} could not be looked up in HubSpot.`));
  return refusal === null;
}

/** Writes a new file. Returns null or, if it exists or cannot be written, a sentence. */
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
async function signAll(file: string, signing: Signing): Promise<number> {
  let refused = 0;
  try {
    const { rows } = await readCsv(file, { needed: ['contactId'] });
    printCsvLine(['contactId', 'link']);
    let batch: CsvRow<'contactId'>[] = [];
    for await (const row of rows) {
      batch.push(row);
      if (batch.length < BATCH) continue;
      refused += await signRows(batch, signing);
      batch = [];
    }
    refused += await signRows(batch, signing);
  } catch (error) {
    if (!(error instanceof NotCsv)) throw error;
    console.error(plain(error.message));
    return 1;
  }
  return refused > 0 ? 1 : 0;
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
    if (wrong !== null) console.error(`line ${line}: ${plain(wrong)}`);
    const isSigned = wrong === null && tell(recipients.shift()!, does, `line ${line}: `);
    if (isSigned) printCsvLine([contactId, mint(contactId)]);
    else refused++;
  }
  return refused;
}

export const linkCheckCommand: Command = {
  usage: 'links check URL',
  summary:
    'Show what a link would do: contact, product, price, floor, expiry; and whether it may be followed.',
  async run([text, ...more], wired) {
    if (!text || more.length > 0 || !URL.canParse(text)) return misused(linkCheckCommand);
    const { lines, isGood } = await previewLink(wired.deps, new URL(text));
    for (const line of lines) console.log(line);
    return isGood ? 0 : 1;
  },
};

export const linksRevokeCommand: Command = {
  usage: 'links revoke JOIN',
  summary:
    'Revoke every link that was mailed for a join, and its code. A new one can be asked for at Get Started.',
  async run([join, ...more], { deps }) {
    const uuid = join?.toLowerCase();
    if (!isUuid(uuid) || more.length > 0) return misused(linksRevokeCommand, notId('join', uuid));
    if (!(await revokePass(deps, uuid))) {
      console.error(`There is no join ${uuid}.`);
      return 1;
    }
    console.log('Revoked. Letters that are sent from now on have a link that opens the join.');
    return 0;
  },
};
