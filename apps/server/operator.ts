import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { ConfigFaults, readConfig } from './config.ts';
import { migrate } from './database/migrate.ts';
import { importInvitations, NotInvitations } from './invitations/importInvitations.ts';
import { mintLink } from './links/mintLink.ts';
import { SocietyFaults } from './society.ts';
import { type Wired, wire } from './wire.ts';

/** The staff command line: a second front door on the same rooms. Exit status 0: done; 1: not, or not all; 2: not understood. */
interface Command {
  usage: string;
  summary: string;
  run(args: string[], wired: Wired): Promise<number>;
}

const FAULTS_SHOWN = 50;

const commands: Record<string, Command> = {
  'invitations import': {
    usage: 'invitations import FILE.csv',
    summary:
      'Take invitations from a CSV file: code,contactId,firstName,lastName,email,school. Safe to run again.',
    async run([file], { database, deps }) {
      if (!file) return misused('invitations import');
      const { imported, unchanged, faults } = await importInvitations(
        database,
        file,
        Object.keys(deps.society.programmes),
      );
      for (const { line, text } of faults.slice(0, FAULTS_SHOWN)) console.error(`line ${line}: ${text}`);
      if (faults.length > FAULTS_SHOWN) console.error(`… and ${faults.length - FAULTS_SHOWN} more lines.`);
      console.log(`${imported} imported, ${unchanged} unchanged, ${faults.length} not taken.`);
      return faults.length > 0 ? 1 : 0;
    },
  },
  links: {
    usage: 'links init|checkout|resume CONTACT_ID [--mp ID] [--usp ID] [--c CENTS] [--days N]',
    summary: "Print a signed link to a contact's page, good for N days (30).",
    async run(args, { deps }) {
      const { values, positionals } = parseArgs({
        args,
        allowPositionals: true,
        options: {
          mp: { type: 'string' },
          usp: { type: 'string' },
          c: { type: 'string' },
          days: { type: 'string', default: '30' },
        },
      });
      const [kind, contactId] = positionals;
      const { days, ...parameters } = values;
      const isKind = kind === 'init' || kind === 'checkout' || kind === 'resume';
      const numbers = [days, ...Object.values(parameters)];
      if (
        !isKind ||
        !/^[0-9]{1,20}$/.test(contactId ?? '') ||
        numbers.some((number) => !/^[1-9]\d{0,8}$/.test(number))
      )
        return misused('links');
      if (kind !== 'checkout' && Object.keys(parameters).length > 0) return misused('links');
      const expires = new Date(deps.now().getTime() + Number(days) * 86_400_000);
      console.log(
        mintLink(deps.links, deps.config.publicUrl, { kind, contactId: contactId!, parameters }, expires),
      );
      return 0;
    },
  },
};

function help(): string {
  const described = [...Object.values(commands), { usage: 'help', summary: 'Show this.' }];
  return [
    'npm run operator -- COMMAND',
    ...described.map(({ usage, summary }) => `\n  ${usage}\n      ${summary}`),
  ].join('\n');
}

function misused(name: string): number {
  console.error(`Usage: npm run operator -- ${commands[name]?.usage}`);
  return 2;
}

async function main(args: string[]): Promise<number> {
  if (args.length === 0 || ['help', '--help', '-h'].includes(args[0]!)) {
    console.log(help());
    return 0;
  }
  const name = Object.keys(commands).find((words) =>
    words.split(' ').every((word, index) => args[index] === word),
  );
  if (!name) {
    console.error(`There is no command "${args.join(' ')}".\n\n${help()}`);
    return 2;
  }
  const config = readConfig();
  await migrate(config.databaseUrl);
  const wired = await wire(config, pino({ level: 'warn' }, pino.destination(2)));
  try {
    return await commands[name]!.run(args.slice(name.split(' ').length), wired);
  } finally {
    await wired.database.destroy();
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (error instanceof ConfigFaults || error instanceof SocietyFaults) console.error(error.faults.join('\n'));
  else if (error instanceof NotInvitations || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS'))
    console.error((error as Error).message);
  else console.error(error);
  process.exitCode = 1;
}
