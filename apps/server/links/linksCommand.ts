import { contactIdFault } from '#core/csv.ts';
import { type Command, misused, plain, printCsvLine, readArgs } from '../platform/command.ts';
import { NotCsv, readCsv } from '../platform/readCsv.ts';
import type { LinkTarget } from './links.ts';
import { mintLink } from './mintLink.ts';
import { previewLink, previewSale } from './previewLink.ts';

const options = {
  mp: { type: 'string' },
  usp: { type: 'string' },
  c: { type: 'string' },
  days: { type: 'string', default: '30' },
} as const;

/** The maximum of `--days`. Numbers of days in a society's file have the same maximum. */
const MOST_DAYS = 36_500;

export const linksCommand: Command = {
  options,
  usage: 'links init|checkout|resume CONTACT_ID|FILE.csv [--mp ID] [--usp ID] [--c CENTS] [--days N]',
  summary:
    "Print a signed link to a contact's page, good for N days (30); of a file with the column contactId, a line `contactId,link` for each.",
  async run(args, { deps }) {
    const read = readArgs(args, options);
    if (read?.positionals.length !== 2) return misused(linksCommand);
    const [kind, subject] = read.positionals as [string, string];
    const { days, ...parameters } = read.values;
    const numbers = [days, ...Object.values(parameters)];
    if (!isKind(kind) || numbers.some((number) => !/^[1-9]\d{0,8}$/.test(number)))
      return misused(linksCommand);
    if (Number(days) > MOST_DAYS) return misused(linksCommand);
    if (kind !== 'checkout' && Object.keys(parameters).length > 0) return misused(linksCommand);
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
    const mint = (contactId: string) =>
      mintLink(deps.links, deps.config.publicUrl, { kind, contactId, parameters }, expires);
    if (isContactId(subject)) {
      console.log(mint(subject));
      return 0;
    }
    return subject.endsWith('.csv') ? mintAll(subject, mint) : misused(linksCommand);
  },
};

const isContactId = (text: string) => /^[0-9]{1,20}$/.test(text);
const isKind = (text: string): text is LinkTarget['kind'] =>
  text === 'init' || text === 'checkout' || text === 'resume';

/** Signs a link for each row of a CSV file, one row at a time, so that memory does not grow with the file. */
async function mintAll(file: string, mint: (contactId: string) => string): Promise<number> {
  let refused = 0;
  try {
    const { rows } = await readCsv(file, { needed: ['contactId'] });
    printCsvLine(['contactId', 'link']);
    for await (const { line, values, fault } of rows) {
      const wrong = fault === null ? contactIdFault(values.contactId) : fault;
      if (wrong !== null) {
        refused++;
        console.error(`line ${line}: ${plain(wrong)}`);
      } else if (values) printCsvLine([values.contactId, mint(values.contactId)]);
    }
  } catch (error) {
    if (!(error instanceof NotCsv)) throw error;
    console.error(plain(error.message));
    return 1;
  }
  return refused > 0 ? 1 : 0;
}

export const linkCheckCommand: Command = {
  usage: 'links check URL',
  summary:
    'Show what a link would do: contact, product, price, floor, expiry; and whether it may be followed.',
  async run([text, ...more], wired) {
    if (!text || more.length > 0 || !URL.canParse(text)) return misused(linkCheckCommand);
    const { lines, isGood } = await previewLink(wired, new URL(text));
    for (const line of lines) console.log(line);
    return isGood ? 0 : 1;
  },
};
