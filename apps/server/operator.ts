import { format } from 'node:util';
import { pino } from 'pino';
import { commands } from './commands.ts';
import { commandNamed, plain } from './platform/command.ts';
import { ConfigFaults, readConfig, settingsOf } from './platform/config/config.ts';
import { refusalOfDatabase } from './platform/database/migrateCommand.ts';
import { sentenceOf } from './platform/database/whenReached.ts';
import { fileFaultOf } from './platform/fileFault.ts';
import { createLog } from './platform/http/logging.ts';
import { Refusal } from './platform/http/refusal.ts';
import { SocietyFaults } from './society/readSociety.ts';
import { wire } from './wire.ts';

function help(): string {
  const described = [...commands, { usage: 'help', summary: 'Show this.' }];
  return [
    'npm run operator -- COMMAND',
    ...described.map(({ usage, summary }) => `\n  ${usage}\n      ${summary}`),
  ].join('\n');
}

/** The database's URL; null until the settings have been read. */
let databaseUrl: string | null = null;

async function main(args: string[]): Promise<number> {
  if (args.length === 0 || ['help', '--help', '-h'].includes(args[0]!)) {
    console.log(help());
    return 0;
  }
  const named = commandNamed(commands, args);
  if (!named) {
    const similar = commands.map(({ usage }) => usage).filter((usage) => usage.split(' ')[0] === args[0]);
    const lines = [
      `There is no command "${args.join(' ')}".`,
      ...similar.map((usage) => `  ${usage}`),
      'All commands: npm run operator -- help',
    ];
    console.error(lines.join('\n'));
    return 2;
  }
  const { command, rest } = named;
  const config = readConfig(settingsOf(args[0]));
  databaseUrl = config.databaseUrl;
  if ('runAlone' in command) return command.runAlone(rest, config);
  const refusal = await refusalOfDatabase(config.databaseUrl);
  if (refusal) {
    console.error(refusal);
    return 1;
  }
  const wired = await wire(config, createLog('warn', pino.destination(2)), { actor: config.operatorName });
  try {
    return await command.run(rest, wired);
  } finally {
    await wired.database.destroy();
  }
}

/**
 * Removes control characters from all output of commands, because names and other input could control the terminal. Keeps line
 * breaks, indentation and the CRLF line ends of CSV.
 */
for (const name of ['log', 'error'] as const) {
  const say = console[name];
  console[name] = (...parts: unknown[]) =>
    say(
      format(...parts)
        .split('\n')
        .map((line) => plain(line) + (line.endsWith('\r') ? '\r' : ''))
        .join('\n'),
    );
}

/**
 * Output that cannot be written does not stop a command, because the command may have begun to change something. Instead, the
 * process exits with status 1 and prints the error. A pipe that its reader has closed (`| head`) is not printed as an error.
 */
let outputFault: NodeJS.ErrnoException | null = null;
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error) => {
    outputFault ??= error;
  });
process.on('exit', () => {
  if (!outputFault) return;
  if (outputFault.code !== 'EPIPE')
    console.error(`The output could not be written, or only in part: ${outputFault.message}.`);
  process.exitCode ||= 1;
});

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (error instanceof ConfigFaults || error instanceof SocietyFaults) console.error(error.faults.join('\n'));
  else if (error instanceof Refusal) console.error(error.message);
  else
    console.error(fileFaultOf(error) ?? ((databaseUrl !== null && sentenceOf(error, databaseUrl)) || error));
  process.exitCode = 1;
}
