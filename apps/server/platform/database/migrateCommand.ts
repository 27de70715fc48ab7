import pg from 'pg';
import { type LoneCommand, misused } from '../command.ts';
import { migrate, migrationState } from './migrate.ts';

export const migrateCommand: LoneCommand = {
  usage: 'migrate',
  summary:
    'Bring the database to this version, as the start of a server does. No other command changes its tables.',
  async runAlone(args, { databaseUrl }) {
    if (args.length > 0) return misused(migrateCommand);
    const names = await migrate(databaseUrl);
    for (const name of names) console.log(name);
    console.log(names.length > 0 ? `${names.length} migrations were run.` : 'Nothing waits to be migrated.');
    return 0;
  },
};

/** Why a command may not run on a database, as a sentence; null when it may. Reads only. */
export async function refusalOfDatabase(databaseUrl: string): Promise<string | null> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { waiting, foreign } = await migrationState(client);
    if (foreign || waiting.length === 0) return foreign;
    const files = waiting.length === 1 ? '1 migration waits' : `${waiting.length} migrations wait`;
    return `The database is not at this version yet: ${files}. The start of a server runs them, and so does \`npm run operator -- migrate\`.`;
  } finally {
    await client.end();
  }
}
