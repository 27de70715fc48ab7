import { format } from 'node:util';
import { ConfigFaults, npmSettings, readConfig, settingsOf } from '../server/platform/config/config.ts';
import { standingOfDatabase } from '../server/platform/database/waitingMigrations.ts';
import { sentenceOf } from '../server/platform/database/whenReached.ts';
import { fileFaultOf } from '../server/platform/fileFault.ts';
import { SocietyFaults } from '../server/society/readSociety.ts';
import { commandNamed, describeCommand, execute, similarTo, USAGE } from './command.ts';
import { commands } from './commands.ts';
import { printAll, warn, warnAll } from './print.ts';
import { swallowedOptions } from './swallowedOptions.ts';
import { wireForStaff } from './wireForStaff.ts';

const HELP = { usage: 'help [COMMAND]', summary: 'Show this, or how one command is used.' };

/** Returns all commands, or only those whose name begins with these words. */
function help(words: readonly string[] = []): string {
  const described = [...commands, HELP].filter(({ usage }) =>
    `${usage} `.startsWith([...words, ''].join(' ')),
  );
  return ['npm run operator -- COMMAND', ...described.map((each) => `\n${describeCommand(each)}`)].join('\n');
}

/** The database's URL; null until the settings have been read. */
let databaseUrl: string | null = null;

const isHelp = (arg: string) => arg === '--help' || arg === '-h';

async function main(args: string[]): Promise<number> {
  const words = args.filter((arg) => !isHelp(arg));
  const asksForHelp = args.length === 0 || args[0] === 'help' || words.length < args.length;
  if (asksForHelp) return showHelp(words[0] === 'help' ? words.slice(1) : words);
  const named = commandNamed(commands, args);
  const swallowed = swallowedOptions(commands, npmSettings());
  if (swallowed.length > 0) {
    // npm reads an unknown short option as several single letters. Therefore only an option of this command is certain to be the
    // one that was typed.
    const own = swallowedOptions(named ? [named.command] : [], npmSettings());
    warn(
      `npm has taken ${own.join(' and ') || 'an option'} for itself, so nothing was done. Put -- before the command: npm run operator -- ${args[0] ?? 'COMMAND'} …`,
    );
    return 2;
  }
  if (!named) return unknownCommand(args);
  const { command, rest } = named;
  const config = readConfig(settingsOf(args[0]));
  databaseUrl = config.databaseUrl;
  if (command.isAlone) return execute(command, rest, { config });
  const { waiting, foreign } = await standingOfDatabase(config.databaseUrl);
  if (foreign || waiting > 0) {
    const files = waiting === 1 ? '1 migration waits' : `${waiting} migrations wait`;
    warn(
      foreign ??
        `The database is not at this version yet: ${files}. The start of a server runs them, and so does \`npm run operator -- migrate\`.`,
    );
    return 1;
  }
  const wired = await wireForStaff(config);
  try {
    return await execute(command, rest, wired.deps);
  } finally {
    await wired.database.destroy();
  }
}

function showHelp(about: readonly string[]): number {
  const named = commandNamed(commands, about);
  const isGroup = commands.some(({ usage }) => usage.startsWith(`${about[0]} `));
  if (about.length > 0 && !named && !isGroup) return unknownCommand(about);
  printAll((named ? describeCommand(named.command, USAGE) : help(about.slice(0, 1))).split('\n'));
  return 0;
}

function unknownCommand(args: readonly string[]): number {
  const [first] = args;
  const similar = similarTo(commands, args);
  const family = commands.filter(({ usage }) => usage.split(' ')[0] === first);
  warn(`There is no command "${args.join(' ')}".`);
  warnAll(
    similar.length > 0
      ? similar.flatMap((each) => describeCommand(each).split('\n'))
      : family.map(({ usage }) => `  ${usage}`),
  );
  warn('All commands: npm run operator -- help');
  return 2;
}

/**
 * If output cannot be written, the command continues, because it may have begun to change something. Afterwards the process
 * prints the error and exits with status 1. For a pipe that its reader has closed (`| head`), it prints no error.
 */
let outputFault: NodeJS.ErrnoException | null = null;
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error) => {
    outputFault ??= error;
  });
process.on('exit', () => {
  if (!outputFault) return;
  if (outputFault.code !== 'EPIPE')
    warn(`The output could not be written, or only in part: ${outputFault.message}.`);
  process.exitCode ||= 1;
});

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const faults =
    error instanceof ConfigFaults || error instanceof SocietyFaults
      ? error.faults.join('\n')
      : (fileFaultOf(error) ?? ((databaseUrl !== null && sentenceOf(error, databaseUrl)) || format(error)));
  warnAll(faults.split('\n'));
  process.exitCode = 1;
}
