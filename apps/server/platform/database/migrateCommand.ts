import { agrees, type LoneCommand, misused, readArgs } from '../command.ts';
import { migrate, migrationState } from './migrate.ts';
import { describeMigration, planMigrations } from './planMigrations.ts';
import { connectToPrimary } from './primary.ts';

const migrateOptions = {
  'dry-run': { type: 'boolean', default: false },
  yes: { type: 'boolean', default: false },
} as const;

export const migrateCommand: LoneCommand = {
  options: migrateOptions,
  usage: 'migrate [--dry-run | --yes]',
  summary:
    'Bring the database to this version, as the start of a server does. No other command changes its tables. If it has data, what would be run, what it locks and for how long is shown first, and done when you agree (--yes: without asking; --dry-run: only shown).',
  async runAlone(args, { databaseUrl }) {
    const read = readArgs(args, migrateOptions);
    if (!read || read.positionals.length > 0) return misused(migrateCommand);
    const { yes, 'dry-run': isTrial } = read.values;
    if (yes && isTrial) return misused(migrateCommand);
    const { planned, foreign, isEmpty } = await planMigrations(databaseUrl);
    if (foreign) {
      console.error(foreign);
      return 1;
    }
    const asks = planned.length > 0 && !isEmpty && !yes;
    if (isTrial || asks)
      for (const migration of planned) console.log(describeMigration(migration).join('\n  '));
    if (isTrial) {
      console.log(
        planned.length === 0
          ? 'Nothing waits to be migrated.'
          : `${planned.length} to be run, each in one transaction. LONG grows with the rows. Nothing was changed.`,
      );
      return 0;
    }
    if (asks && !(await agrees('Run them? A backup brings back what was before.', { yes, done: 'changed' })))
      return 1;
    const names = await migrate(databaseUrl, { tell: console.error });
    for (const name of names) console.log(name);
    console.log(names.length > 0 ? `${names.length} migrations were run.` : 'Nothing waits to be migrated.');
    return 0;
  },
};

/** Returns a sentence about why a command must not run on a database; null if it may. Changes nothing. */
export async function refusalOfDatabase(databaseUrl: string): Promise<string | null> {
  const { client } = await connectToPrimary(databaseUrl);
  try {
    const { waiting, foreign } = await migrationState(client);
    if (foreign || waiting.length === 0) return foreign;
    const files = waiting.length === 1 ? '1 migration waits' : `${waiting.length} migrations wait`;
    return `The database is not at this version yet: ${files}. The start of a server runs them, and so does \`npm run operator -- migrate\`.`;
  } finally {
    await client.end();
  }
}
