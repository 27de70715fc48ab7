import { pino } from 'pino';
import { type Command, commandNamed, type LoneCommand } from './command.ts';
import { ConfigFaults, readConfig } from './config.ts';
import {
  diffCommand,
  failedCommand,
  linkCommand,
  retryCommand,
  statusCommand,
  syncCommand,
} from './contacts/commands.ts';
import { migrate } from './database/migrate.ts';
import { doctorCommand } from './doctor/doctorCommand.ts';
import {
  documentsAcceptCommand,
  documentsDueCommand,
  documentsFetchCommand,
  documentsListCommand,
  documentsRejectCommand,
  documentsShowCommand,
} from './documents/commands.ts';
import {
  ordersListCommand,
  ordersShipCommand,
  ordersShowCommand,
  ordersUnshipCommand,
} from './fulfilment/commands.ts';
import { createLog } from './http/logging.ts';
import { Refusal } from './http/refusal.ts';
import { importCommand } from './invitations/importCommand.ts';
import { mintCommand } from './invitations/mintCommand.ts';
import { findCommand } from './join/findCommand.ts';
import { ledgerCommand } from './ledger/ledgerCommand.ts';
import { linkCheckCommand, linksCommand } from './links/linksCommand.ts';
import { noticesCommand } from './notices/noticesCommand.ts';
import { reconcileCommand, refundAssignCommand, refundCommand, settleCommand } from './payments/commands.ts';
import { SocietyFaults } from './society.ts';
import { storyCommand } from './story/storyCommand.ts';
import { wire } from './wire.ts';

/** The staff command line: a second front door on the same rooms. */
const commands: readonly (Command | LoneCommand)[] = [
  importCommand,
  mintCommand,
  syncCommand,
  statusCommand,
  failedCommand,
  retryCommand,
  diffCommand,
  linkCommand,
  linkCheckCommand,
  linksCommand,
  findCommand,
  storyCommand,
  refundAssignCommand,
  refundCommand,
  reconcileCommand,
  settleCommand,
  ledgerCommand,
  ordersListCommand,
  ordersShowCommand,
  ordersShipCommand,
  ordersUnshipCommand,
  documentsListCommand,
  documentsShowCommand,
  documentsAcceptCommand,
  documentsRejectCommand,
  documentsDueCommand,
  documentsFetchCommand,
  noticesCommand,
  doctorCommand,
];

function help(): string {
  const described = [...commands, { usage: 'help', summary: 'Show this.' }];
  return [
    'npm run operator -- COMMAND',
    ...described.map(({ usage, summary }) => `\n  ${usage}\n      ${summary}`),
  ].join('\n');
}

async function main(args: string[]): Promise<number> {
  if (args.length === 0 || ['help', '--help', '-h'].includes(args[0]!)) {
    console.log(help());
    return 0;
  }
  const named = commandNamed(commands, args);
  if (!named) {
    console.error(`There is no command "${args.join(' ')}".\n\n${help()}`);
    return 2;
  }
  const { command, rest } = named;
  const config = readConfig();
  if ('runAlone' in command) return command.runAlone(rest, config);
  await migrate(config.databaseUrl);
  const wired = await wire(config, createLog('warn', pino.destination(2)), { actor: config.operatorName });
  try {
    return await command.run(rest, wired);
  } finally {
    await wired.database.destroy();
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (error instanceof ConfigFaults || error instanceof SocietyFaults) console.error(error.faults.join('\n'));
  else if (error instanceof Refusal) console.error(error.message);
  else console.error(error);
  process.exitCode = 1;
}
