import { type Command, misused, readArgs } from '../command.ts';
import { mintLink } from './mintLink.ts';

const options = {
  mp: { type: 'string' },
  usp: { type: 'string' },
  c: { type: 'string' },
  days: { type: 'string', default: '30' },
} as const;

export const linksCommand: Command = {
  usage: 'links init|checkout|resume CONTACT_ID [--mp ID] [--usp ID] [--c CENTS] [--days N]',
  summary: "Print a signed link to a contact's page, good for N days (30).",
  async run(args, { deps }) {
    const read = readArgs(args, options);
    if (!read) return misused(linksCommand);
    const [kind, contactId = ''] = read.positionals;
    const { days, ...parameters } = read.values;
    const isKind = kind === 'init' || kind === 'checkout' || kind === 'resume';
    const numbers = [days, ...Object.values(parameters)];
    if (
      !isKind ||
      !/^[0-9]{1,20}$/.test(contactId) ||
      numbers.some((number) => !/^[1-9]\d{0,8}$/.test(number))
    )
      return misused(linksCommand);
    if (kind !== 'checkout' && Object.keys(parameters).length > 0) return misused(linksCommand);
    const expires = new Date(deps.now().getTime() + Number(days) * 86_400_000);
    console.log(mintLink(deps.links, deps.config.publicUrl, { kind, contactId, parameters }, expires));
    return 0;
  },
};
