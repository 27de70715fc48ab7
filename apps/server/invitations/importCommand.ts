import { type Command, misused } from '../command.ts';
import { importInvitations, NotInvitations } from './importInvitations.ts';

const FAULTS_SHOWN = 50;

export const importCommand: Command = {
  usage: 'invitations import FILE.csv',
  summary:
    'Take invitations from a CSV file: code,contactId,firstName,lastName,email,school. Safe to run again.',
  async run([file], { database, deps }) {
    if (!file) return misused(importCommand);
    try {
      const { imported, unchanged, faults } = await importInvitations(
        database,
        file,
        Object.keys(deps.society.programmes),
      );
      for (const { line, text } of faults.slice(0, FAULTS_SHOWN)) console.error(`line ${line}: ${text}`);
      if (faults.length > FAULTS_SHOWN) console.error(`… and ${faults.length - FAULTS_SHOWN} more lines.`);
      console.log(`${imported} imported, ${unchanged} unchanged, ${faults.length} not taken.`);
      return faults.length > 0 ? 1 : 0;
    } catch (error) {
      if (!(error instanceof NotInvitations)) throw error;
      console.error(error.message);
      return 1;
    }
  },
};
