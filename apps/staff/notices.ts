import { endNotice, readNotices } from '../server/letters/readNotices.ts';
import { Failed } from '../server/platform/failed.ts';
import { reportedKinds } from '../server/running/reports.ts';
import { command } from './command.ts';
import { minute, print, printAll } from './print.ts';
import { noticeSentence } from './sentences/notices.ts';

export const noticeCommands = [
  command({
    usage: 'notices [--days DAYS]',
    texts: { days: '[DAYS]' },
    summary:
      'Show what staff should know: payments returned, refunds and disputes from outside, differences (30 days); and what browsers report of our pages. One cause is one notice, with its number, until it is mended or notices done ends it.',
    async run(deps, _, { days = '30' }) {
      const since = new Date(Date.now() - Number(days) * 86_400_000);
      const notices = await readNotices(deps, { since });
      for (const notice of notices) {
        const { id, subject, count, createdAt, lastSeenAt } = notice;
        print(
          `${id}`,
          minute(lastSeenAt),
          noticeSentence(notice),
          subject && `(join ${subject})`,
          count > 1 && `(${count} times since ${minute(createdAt)})`,
        );
      }
      if (notices.length === 0) print('Nothing.');
      const reported = await reportedKinds(deps.database);
      if (reported.length > 0)
        printAll(['', 'What browsers report of our pages:', ...reported.map((line) => `  ${line}`)]);
    },
  }),
  command({
    usage: 'notices done NUMBER',
    args: ['NUMBER'],
    summary:
      'Say that what a notice tells is done: it is shown no more. If its cause comes back, there is a new one.',
    async run(deps, [number]) {
      if (!(await endNotice(deps, Number(number)))) throw new Failed(`There is no open notice ${number}.`);
      print('It is done.');
    },
  }),
];
