import { migrate } from '../server/platform/database/migrate.ts';
import { waitingMigrations } from '../server/platform/database/waitingMigrations.ts';
import { Failed } from '../server/platform/failed.ts';
import { loneCommand } from './command.ts';
import { agree, print, printAll, warn } from './print.ts';

const NOTHING = 'Nothing waits to be migrated.';

export const migrateCommands = [
  loneCommand({
    usage: 'migrate [--dry-run | --yes]',
    flags: ['dry-run', 'yes'],
    summary:
      'Bring the database to this version, as the start of a server does. No other command changes its tables. If it has data, what would be run is shown first, and done when you agree (--yes: without asking; --dry-run: only shown).',
    async run({ config: { databaseUrl } }, _, { yes, 'dry-run': isTrial }) {
      const { waiting, foreign, isEmpty } = await waitingMigrations(databaseUrl);
      if (foreign) throw new Failed(foreign);
      const asks = waiting.length > 0 && !isEmpty && !yes;
      if (isTrial || asks) printAll(waiting.flatMap(({ name, words }) => [name, `  ${words}`]));
      if (isTrial) {
        print(
          waiting.length === 0
            ? NOTHING
            : `${waiting.length} to be run, each in one transaction. Nothing was changed.`,
        );
        return;
      }
      if (asks) await agree('Run them? A backup brings back what was before.', 'changed', { yes });
      const seen = asks ? { seen: waiting.map(({ name }) => name) } : {};
      const names = await migrate(databaseUrl, { warn, ...seen });
      printAll(names);
      print(names.length > 0 ? `${names.length} migrations were run.` : NOTHING);
    },
  }),
];
