import { writeFileSync } from 'node:fs';
import { cleanText, plain } from '#core/cleanText.ts';
import { displayMemberNumber } from '#core/memberNumber.ts';
import { papers } from '#core/paper.ts';
import { certificateOf, hasProgramme, readMember, unprintable } from '../server/certificate/member.ts';
import { isUuid } from '../server/platform/database/isUuid.ts';
import { type Command, misused, notId, readArgs } from './command.ts';

const certificateOptions = { name: { type: 'string' }, paper: { type: 'string' } } as const;

export const certificateCommand: Command = {
  options: certificateOptions,
  usage: 'certificate JOIN [--name NAME] [--paper letter|a4] FILE.pdf',
  summary:
    'Write the certificate of a join to a new file, with another spelling of the name where the member has asked for one.',
  async run(args, { deps }) {
    const read = readArgs(args, certificateOptions);
    const [uuid = '', file, ...more] = read?.positionals ?? [];
    const paper = papers.find((known) => known === read?.values.paper);
    if (!read || !isUuid(uuid) || file === undefined || more.length > 0 || paper !== read.values.paper)
      return misused(certificateCommand, notId('join', uuid));
    const given = read.values.name === undefined ? null : cleanText(read.values.name);
    if (given === '') {
      console.error('The name is empty: a certificate needs one.');
      return 2;
    }
    const session = await deps.database
      .selectFrom('join_session')
      .select('erased_at')
      .where('uuid', '=', uuid)
      .executeTakeFirst();
    if (!session || session.erased_at !== null) {
      console.error(`There is no join ${uuid}, or it was erased.`);
      return 1;
    }
    // Reads the member with the rights of a proven joiner. The rate limits are off, because staff's requests must not be counted.
    const uncounted = { ...deps, config: { ...deps.config, limits: null } };
    const member = await readMember(uncounted, uuid, {
      holding: { began: false, proven: true, paid: false },
    });
    if (!hasProgramme(deps, member.programme)) {
      console.error(
        `${deps.config.societyFile} has no programme ${plain(member.programme)}, which this membership is of. Put it back, with \`retired: true\` if nobody is to join it any more.`,
      );
      return 1;
    }
    const name = given ?? member.name;
    const missing = await unprintable(deps, name);
    if (missing.length > 0) {
      console.error(
        `The typeface has no ${plain(missing.join(' '))}: give the name in Latin, Greek or Cyrillic letters with --name.`,
      );
      return 1;
    }
    const certificate = { ...certificateOf(deps, member), name };
    const bytes = await deps.printer.print({
      kind: 'certificate',
      certificate,
      paper: paper ?? member.paper,
    });
    try {
      writeFileSync(file, bytes, { flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      console.error(`${file} is there already.`);
      return 1;
    }
    console.log(`${file}: the certificate of ${plain(name)}, number ${displayMemberNumber(member.number)}.`);
    return 0;
  },
};
