import { askPerson, type Command, misused, readArgs } from '../platform/command.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { tellStripe } from './atStripe.ts';
import { applyRetention, MOST, NotAllRemoved, overdue, owing, type Stage, stages } from './retention.ts';
import { reasonOf } from './stoppedErasing.ts';

const retentionOptions = {
  'dry-run': { type: 'boolean', default: false },
  yes: { type: 'boolean', default: false },
} as const;

export const retentionCommand: Command = {
  options: retentionOptions,
  usage: 'retention [--dry-run | --yes]',
  summary:
    'Show what is over the time that society.yaml gives it (retention), and remove it when you agree (--yes: without asking; --dry-run: only shown). The servers do it once a day by themselves.',
  async run(args, { deps }) {
    const read = readArgs(args, retentionOptions);
    if (!read || read.positionals.length > 0 || (read.values.yes && read.values['dry-run']))
      return misused(retentionCommand);
    let total = 0;
    for (const stage of stages) {
      const days = deps.society.retention[`${stage}Days`];
      const ids = await overdue(deps, stage);
      total += ids.length;
      console.log(
        days === undefined
          ? `${stage}: kept for ever`
          : `${stage}: kept for ${days} days, ${ids.length === MOST ? 'at least ' : ''}${ids.length} over it`,
      );
      for (const id of ids) console.log(`  ${id}`);
      const kept = (await owing(deps, stage)).length;
      if (kept > 0)
        console.log(
          `  ${kept === MOST ? `at least ${kept}` : kept} more wait for goods to be sent: npm run operator -- orders list`,
        );
    }
    if (read.values['dry-run'] || total === 0) return 0;
    if (!read.values.yes && !(await askPerson('Remove it?'))) {
      console.log('Nothing was removed: say yes, or give --yes.');
      return 1;
    }
    let failed: NotAllRemoved | null = null;
    const counts: Record<Stage, number> = await applyRetention(deps).catch((error: unknown) => {
      if (!(error instanceof NotAllRemoved)) throw error;
      failed = error;
      return error.counts;
    });
    console.log(`Removed: ${stages.map((stage) => `${counts[stage]} ${stage}`).join(', ')}.`);
    if (failed) console.error((failed as NotAllRemoved).message);
    try {
      await tellStripe(deps);
      return failed ? 1 : 0;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      console.error(`${reasonOf(error)} The servers tell it again what to forget of them.`);
      return 1;
    }
  },
};
