import { migrate } from '../server/platform/database/migrate.ts';
import { waitingMigrations } from '../server/platform/database/waitingMigrations.ts';
import { agrees, type LoneCommand, misused, readArgs } from './command.ts';

const migrateOptions = {
  'dry-run': { type: 'boolean', default: false },
  yes: { type: 'boolean', default: false },
} as const;

export const migrateCommand: LoneCommand = {
  options: migrateOptions,
  usage: 'migrate [--dry-run | --yes]',
  summary:
    'Bring the database to this version, as the start of a server does. No other command changes its tables. If it has data, what would be run is shown first, and done when you agree (--yes: without asking; --dry-run: only shown).',
  async runAlone(args, { databaseUrl }) {
    const read = readArgs(args, migrateOptions);
    if (!read || read.positionals.length > 0) return misused(migrateCommand);
    const { yes, 'dry-run': isTrial } = read.values;
    if (yes && isTrial) return misused(migrateCommand);
    const { waiting, foreign, isEmpty } = await waitingMigrations(databaseUrl);
    if (foreign) {
      console.error(foreign);
      return 1;
    }
    const asks = waiting.length > 0 && !isEmpty && !yes;
    if (isTrial || asks) for (const { name, words } of waiting) console.log(`${name}\n  ${words}`);
    if (isTrial) {
      console.log(
        waiting.length === 0
          ? 'Nothing waits to be migrated.'
          : `${waiting.length} to be run, each in one transaction. Nothing was changed.`,
      );
      return 0;
    }
    if (asks && !(await agrees('Run them? A backup brings back what was before.', { yes, done: 'changed' })))
      return 1;
    const seen = asks ? { seen: waiting.map(({ name }) => name) } : {};
    const names = await migrate(databaseUrl, { tell: console.error, ...seen });
    for (const name of names) console.log(name);
    console.log(names.length > 0 ? `${names.length} migrations were run.` : 'Nothing waits to be migrated.');
    return 0;
  },
};
