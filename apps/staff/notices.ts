import { plain } from '#core/cleanText.ts';
import { endNotice, readNotices } from '../server/letters/readNotices.ts';
import { reportedKinds } from '../server/running/reports.ts';
import { type Command, misused, readArgs } from './command.ts';
import { noticeSentence } from './sentences/notices.ts';

const noticesOptions = { days: { type: 'string', default: '30' } } as const;

const minute = (date: Date) => `${date.toISOString().slice(0, 16)}Z`;

export const noticesCommand: Command = {
  options: noticesOptions,
  usage: 'notices [--days N]',
  summary:
    'Show what staff should know: payments returned, refunds and disputes from outside, differences (30 days); and what browsers report of our pages. One cause is one notice, with its number, until it is mended or notices done ends it.',
  async run(args, { deps, database }) {
    const read = readArgs(args, noticesOptions);
    if (!read || read.positionals.length > 0 || !/^[1-9]\d{0,4}$/.test(read.values.days))
      return misused(noticesCommand);
    const since = new Date(Date.now() - Number(read.values.days) * 86_400_000);
    const notices = await readNotices(deps, since);
    for (const notice of notices) {
      const { id, subject, count, createdAt, lastSeenAt } = notice;
      const often = count > 1 ? `  (${count} times since ${minute(createdAt)})` : '';
      console.log(
        `${id}  ${minute(lastSeenAt)}  ${plain(noticeSentence(notice))}${subject ? `  (join ${subject})` : ''}${often}`,
      );
    }
    if (notices.length === 0) console.log('Nothing.');
    const reported = await reportedKinds(database);
    if (reported.length > 0)
      console.log(['', 'What browsers report of our pages:', ...reported].join('\n  '));
    return 0;
  },
};

export const noticesDoneCommand: Command = {
  usage: 'notices done NUMBER',
  summary:
    'Say that what a notice tells is done: it is shown no more. If its cause comes back, there is a new one.',
  async run([number, ...more], { deps }) {
    if (!number || !/^[1-9]\d{0,15}$/.test(number) || more.length > 0) return misused(noticesDoneCommand);
    if (await endNotice(deps, Number(number))) {
      console.log('It is done.');
      return 0;
    }
    console.error(`There is no open notice ${number}.`);
    return 1;
  },
};
