import { statSync } from 'node:fs';
import { plain } from '#core/cleanText.ts';
import { SHORTEST_CODE } from '#core/guessableCodes.ts';
import { type Command, misused } from '../platform/command.ts';
import { Progress } from '../platform/progress.ts';
import { NotCsv } from '../platform/readCsv.ts';
import type { Guessable } from './guessable.ts';
import { type Doubt, type ImportReport, importInvitations } from './importInvitations.ts';

export const importCommand: Command = {
  usage: 'invitations import FILE.csv',
  summary:
    'Take invitations from a CSV file: code,contactId,firstName,lastName,email,school and, where wanted, programme,expiresAt (the last day, YYYY-MM-DD). Safe to run again.',
  async run([file, ...more], { database, deps }) {
    if (!file || more.length > 0) return misused(importCommand);
    const began = performance.now();
    const doubts = new Map<Doubt, { count: number; line: number }>();
    const guessable: Guessable[] = [];
    const progress = new Progress('lines', statSync(file, { throwIfNoEntry: false })?.size ?? null);
    try {
      const { imported, unchanged, refused } = await importInvitations(database, file, deps.society, {
        refused: (line, text) => {
          progress.end();
          console.error(`line ${line}: ${plain(text)}`);
        },
        doubted: (line, doubt) => {
          const { count, line: first } = doubts.get(doubt) ?? { count: 0, line };
          doubts.set(doubt, { count: count + 1, line: first });
        },
        progress: (lines, bytes) => progress.at(lines, bytes),
        stopped: (soFar) => {
          progress.end();
          console.error(
            `It stopped before the end: so far ${counted(soFar)} When what follows is mended, give the same command again.`,
          );
        },
        guessable: (found) => guessable.push(found),
      });
      progress.end();
      console.log(counted({ imported, unchanged, refused }));
      const lines = imported + unchanged + refused;
      const seconds = (performance.now() - began) / 1000;
      if (lines >= 10_000)
        console.log(`${Math.round(lines / seconds)} lines a second, ${Math.round(seconds)} s.`);
      for (const [doubt, { count, line }] of doubts)
        console.log(`Warning: ${doubtful[doubt]}: ${count}, such as on line ${line}.`);
      for (const found of guessable) console.log(`Warning: ${warningOf(found)}`);
      if (guessable.length > 0)
        console.log('A code opens what is known of its contact. npm run operator -- invitations mint');
      return refused > 0 ? 1 : 0;
    } catch (error) {
      if (!(error instanceof NotCsv)) throw error;
      progress.end();
      console.error(plain(error.message));
      return 1;
    }
  },
};

const counted = ({ imported, unchanged, refused }: ImportReport) =>
  `${imported} imported, ${unchanged} unchanged, ${refused} not taken.`;

const doubtful: Record<Doubt, string> = {
  moved: 'codes that lead to another contact now, while their joins stay with the contact who began them',
  expired: 'codes that have expired already',
  withdrawn: 'codes that were withdrawn, and stay so (invitations extend CODE opens one again)',
};

/**
 * Returns a warning for staff about guessable codes. It has line numbers instead of the codes, since the output may end up in a
 * log.
 */
function warningOf({ kind, count, lines }: Guessable): string {
  const where = `such as on ${lines.length === 1 ? 'line' : 'lines'} ${lines.join(' and ')}`;
  switch (kind) {
    case 'short':
      return `personal codes of fewer than ${SHORTEST_CODE} characters: ${count}, ${where}. They are found by trying.`;
    case 'sequential':
      return `personal codes that follow on another one: ${count}, ${where}. Whoever has one knows the next.`;
    case 'alike':
      return `personal codes that differ from another one by one character: at least ${count}, ${where}. A slip of the finger opens somebody else's invitation.`;
  }
}
