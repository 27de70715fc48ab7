import { type Doubt, doubtSentence, guessableSentence } from '#core/importDoubts.ts';
import type { Deps } from '../deps.ts';
import { type ImportListener, type ImportReport, importInvitations } from './importInvitations.ts';
import { wholeOf } from './importParts.ts';
import type { Import } from './imports.ts';

/**
 * Reads a file like an import, but writes nothing. Returns the counts that an import would report, and sentences about what staff
 * may not have intended. Throws `NotCsv`.
 */
export async function checkImport(
  { database, society }: Pick<Deps, 'database' | 'society'>,
  file: Import,
  listener: Pick<Partial<ImportListener>, 'header' | 'refused' | 'progress'> = {},
): Promise<{ counts: ImportReport; doubts: string[] }> {
  const doubts = new Map<Doubt, { count: number; line: number }>();
  const guessable: string[] = [];
  const counts = await importInvitations(
    database,
    { name: file.fileName, pieces: wholeOf(database, file, 'file') },
    society,
    {
      ...listener,
      doubted(line, doubt) {
        const { count, line: first } = doubts.get(doubt) ?? { count: 0, line };
        doubts.set(doubt, { count: count + 1, line: Math.min(first, line) });
      },
      guessable: (found) => guessable.push(guessableSentence(found)),
    },
    { campaign: file.campaign, isTrial: true },
  );
  const told = [...doubts].map(([doubt, { count, line }]) => doubtSentence(doubt, count, line));
  return { counts, doubts: [...told, ...guessable] };
}
