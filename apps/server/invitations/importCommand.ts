import { statSync } from 'node:fs';
import { type Command, misused } from '../command.ts';
import { Progress } from '../progress.ts';
import { importInvitations, NotInvitations } from './importInvitations.ts';

export const importCommand: Command = {
  usage: 'invitations import FILE.csv',
  summary:
    'Take invitations from a CSV file: code,contactId,firstName,lastName,email,school. Safe to run again.',
  async run([file, ...more], { database, deps }) {
    if (!file || more.length > 0) return misused(importCommand);
    const began = performance.now();
    const progress = new Progress('lines', statSync(file, { throwIfNoEntry: false })?.size ?? null);
    try {
      const { imported, unchanged, refused } = await importInvitations(
        database,
        file,
        Object.keys(deps.society.programmes),
        {
          refused: (line, text) => {
            progress.end();
            console.error(`line ${line}: ${text}`);
          },
          progress: (lines, bytes) => progress.at(lines, bytes),
        },
      );
      progress.end();
      console.log(`${imported} imported, ${unchanged} unchanged, ${refused} not taken.`);
      const lines = imported + unchanged + refused;
      const seconds = (performance.now() - began) / 1000;
      if (lines >= 10_000)
        console.log(`${Math.round(lines / seconds)} lines a second, ${Math.round(seconds)} s.`);
      return refused > 0 ? 1 : 0;
    } catch (error) {
      if (!(error instanceof NotInvitations)) throw error;
      progress.end();
      console.error(error.message);
      return 1;
    }
  },
};
