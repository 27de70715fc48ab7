import { writeFileSync } from 'node:fs';
import { displayMemberNumber } from '#core/memberNumber.ts';
import { papers } from '#core/paper.ts';
import { certificateForStaff, whyNoCertificate } from '../server/membership/certificateForStaff.ts';
import { Failed } from '../server/platform/failed.ts';
import { command } from './command.ts';
import { print } from './print.ts';

export const certificateCommands = [
  command({
    usage: 'certificate JOIN [--name NAME] [--paper letter|a4] FILE.pdf',
    args: ['JOIN', 'FILE.pdf'],
    texts: { name: '[NAME]', paper: '[letter|a4]' },
    summary:
      'Write the certificate of a join to a new file, with another spelling of the name where the member has asked for one.',
    async run(deps, [uuid, file], { name = null, paper }) {
      const made = await certificateForStaff(deps, uuid, {
        name,
        paper: papers.find((known) => known === paper) ?? null,
      });
      if (made.is !== 'made') {
        const { societyFile } = deps.config;
        throw new Failed(whyNoCertificate(made, { join: `join ${uuid}`, societyFile, how: ' with --name' }));
      }
      try {
        writeFileSync(file, made.bytes, { flag: 'wx' });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
        throw new Failed(`${file} is there already.`);
      }
      print(`${file}: the certificate of ${made.name}, number ${displayMemberNumber(made.number)}.`);
    },
  }),
];
