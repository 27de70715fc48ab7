import type { DeskCallName } from '#contract/deskCalls.ts';
import type { DeskData } from '#contract/deskSchemas.ts';
import type { StoryStep } from '#core/story.ts';
import type { ShownPerson } from '../people/showPerson.ts';
import type { Society } from '../society/society.ts';
import { dateOf } from '../society/texts.ts';
import type { EventShown } from './events.ts';
import { actionWords, letterNames } from './words.ts';

type Story = DeskData<'getPerson'>['story'];

/**
 * For each call of the desk: the steps that it adds to a join's story. An event of the call is left out of the person's story if
 * such a step shows it already. `addNote` adds no step: the note itself shows it.
 */
const toldBy: Partial<Record<DeskCallName, readonly StoryStep[]>> = {
  addNote: [],
  correctPerson: ['details_corrected'],
  refundJoin: ['refund_decided'],
  declineRefund: ['refund_declined'],
  addTranscript: ['document_uploaded'],
  acceptTranscripts: ['document_accepted'],
  rejectTranscripts: ['document_rejected'],
  rejectFinally: ['document_rejected', 'refund_decided'],
  reopenTranscripts: ['document_open'],
  shipGoods: ['shipped'],
  unshipGoods: ['unshipped'],
};
/** A call is recorded when it has ended: at most this long (ms) after the step that it added. */
const LONGEST_MS = 120_000;

/**
 * Returns a person's story, oldest first: steps of the joins, letters that were sent, notes, and actions of staff at the desk.
 * Each thing appears only once.
 */
export function storyOf(
  society: Society,
  { joins, letters, notes }: ShownPerson,
  events: readonly EventShown[],
): Story {
  const steps = joins.flatMap(({ story }, index) => story.map((line) => ({ ...line, join: index + 1 })));
  const isTold = ({ at, name, action, outcome }: EventShown): boolean => {
    const told = toldBy[action as DeskCallName];
    if (outcome !== 'done' || !told) return false;
    return (
      told.length === 0 ||
      steps.some((line) => {
        const afterMs = at.getTime() - line.at.getTime();
        return told.includes(line.step) && line.by === byStaff(name) && afterMs >= 0 && afterMs < LONGEST_MS;
      })
    );
  };
  const lines = [
    ...steps.map(({ step: _, ...line }) => ({ ...line, note: null })),
    ...letters
      .filter(({ state }) => state === 'sent')
      .map(({ at, kind, email, join }) => ({
        at,
        text: `Letter sent to ${email ?? 'nobody'}: ${letterNames[kind]}.`,
        by: 'Induct',
        isStaff: false,
        join: joins.findIndex(({ uuid }) => uuid === join) + 1 || null,
        note: null,
      })),
    ...notes.map(({ id, at, text, by, removedBy, removedAt }) => ({
      at,
      text: text ?? `A note, which ${removedBy} removed on ${dateOf(society, removedAt!)}.`,
      by: byStaff(by),
      isStaff: true,
      join: null,
      note: text === null ? null : id,
    })),
    ...events
      .filter((event) => !isTold(event))
      .map((event) => ({
        at: event.at,
        text: actionWords(event),
        by: byStaff(event.name),
        isStaff: true,
        join: null,
        note: null,
      })),
  ];
  return lines
    .sort((one, other) => one.at.getTime() - other.at.getTime())
    .map(({ at, ...line }) => ({ ...line, at: at.toISOString() }));
}

function byStaff(name: string | null): string {
  return `staff (${name ?? 'unknown'})`;
}
