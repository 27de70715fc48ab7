import { writeFileSync } from 'node:fs';
import { cleanText, plain } from '#core/cleanText.ts';
import { displayMemberNumber } from '#core/memberNumber.ts';
import { papers } from '#core/paper.ts';
import { certificateForStaff, type ForStaff } from '../server/membership/certificateForStaff.ts';
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
    const made = await certificateForStaff(deps, uuid, { name: given, paper: paper ?? null });
    if (made.is !== 'made') {
      console.error(whyNotMade(made, uuid, deps.config.societyFile));
      return 1;
    }
    const { bytes, name, number } = made;
    try {
      writeFileSync(file, bytes, { flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      console.error(`${file} is there already.`);
      return 1;
    }
    console.log(`${file}: the certificate of ${plain(name)}, number ${displayMemberNumber(number)}.`);
    return 0;
  },
};

function whyNotMade(why: Exclude<ForStaff, { is: 'made' }>, uuid: string, societyFile: string): string {
  switch (why.is) {
    case 'absent':
      return `There is no join ${uuid}, or it was erased.`;
    case 'without programme':
      return `${societyFile} has no programme ${plain(why.programme)}, which this membership is of. Put it back, with \`retired: true\` if nobody is to join it any more.`;
    case 'unprintable':
      return `The typeface has no ${plain(why.letters.join(' '))}: give the name in Latin, Greek or Cyrillic letters with --name.`;
  }
}
