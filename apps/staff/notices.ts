import { plain } from '#core/cleanText.ts';
import { readNotices } from '../server/notices/readNotices.ts';
import { reportedKinds } from '../server/reports/reports.ts';
import { type Command, misused, readArgs } from './command.ts';

const noticesOptions = { days: { type: 'string', default: '30' } } as const;

export const noticesCommand: Command = {
  options: noticesOptions,
  usage: 'notices [--days N]',
  summary:
    'Show what staff should know: payments returned, refunds and disputes from outside, differences (30 days); and what browsers report of our pages.',
  async run(args, { database }) {
    const read = readArgs(args, noticesOptions);
    if (!read || read.positionals.length > 0 || !/^[1-9]\d{0,4}$/.test(read.values.days))
      return misused(noticesCommand);
    const since = new Date(Date.now() - Number(read.values.days) * 86_400_000);
    const notices = await readNotices(database, since);
    for (const { created_at, session_uuid, message } of notices)
      console.log(
        `${created_at.toISOString().slice(0, 16)}Z  ${plain(message)}${session_uuid ? `  (join ${session_uuid})` : ''}`,
      );
    if (notices.length === 0) console.log('Nothing.');
    const reported = await reportedKinds(database);
    if (reported.length > 0)
      console.log(['', 'What browsers report of our pages:', ...reported].join('\n  '));
    return 0;
  },
};
