import type { FastifyInstance } from 'fastify';
import type { DeskActionName } from '#contract/deskSchemas.ts';
import { UNDO_SECONDS } from '#core/staff.ts';
import { type RejectionReason, rejectionReasons } from '#documents/document.ts';
import { proofJoin } from '../documents/proofJoin.ts';
import { type FinalRejection, rejectAndGiveBack, rejectFinally } from '../documents/rejectFinally.ts';
import {
  type Decision,
  decisionsOn,
  NothingToDecide,
  type Reviewed,
  reopenTranscripts,
  reviewTranscripts,
} from '../documents/review.ts';
import { alsoHeld, readLine, rejectionLines, reviewLines } from '../documents/reviewLines.ts';
import { showUnwritten } from '../letters/showLetter.ts';
import { planLines, previewLines, totalLine } from '../paying/refunds/refundLines.ts';
import { Failed } from '../platform/failed.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { dateOf, dayOf, minuteOf } from '../society/texts.ts';
import type { Deps } from './deps.ts';
import { joinOf } from './joinOf.ts';
import type { DeskContext } from './serve.ts';
import { type ActionContext, serveAction } from './serveAction.ts';

type Name = Extract<
  DeskActionName,
  'acceptTranscripts' | 'rejectTranscripts' | 'reopenTranscripts' | 'rejectFinally'
>;

/** Serves the calls that decide on transcripts. */
export function decisionRoutes(app: FastifyInstance, deps: Deps & { deskUrl: string }): void {
  serveAction<'acceptTranscripts', Reviewed>(
    app,
    deps,
    'acceptTranscripts',
    {
      async preview(context) {
        const { uuid, join, last } = await decidedSoFar(context);
        const seen = await reviewTranscripts(context.deps, uuid, ACCEPTED, { isTrial: true }).catch(
          (error: unknown) => {
            if (error instanceof NothingToDecide && last?.review === 'accepted')
              throw new Failed(alreadyDecided(context.deps, last));
            throw error;
          },
        );
        const lines = reviewLines(seen, 'accepted', true);
        return { lines: [...lines, ...(await letterLines(context.deps, join, seen))], verb: 'Accept', seen };
      },
      async act(context, seen) {
        const how = { seen, undoSeconds: UNDO_SECONDS };
        await reviewTranscripts(
          context.deps,
          await joinOf(context.deps, context.params, context.body.join),
          ACCEPTED,
          how,
        );
        return { lines: [] };
      },
    },
    person,
  );

  serveAction<'rejectTranscripts', Reviewed>(
    app,
    deps,
    'rejectTranscripts',
    {
      async preview(context) {
        const reason = reasonIn(context.body);
        const { uuid, last } = await decidedSoFar(context);
        const verdict = { review: 'rejected', reason } as const;
        const seen = await reviewTranscripts(context.deps, uuid, verdict, { isTrial: true });
        const isAgain = seen.acceptedBefore > 0 || seen.rejectedBefore !== null;
        const lines = [
          ...(isAgain && last ? [alreadyDecided(context.deps, last)] : []),
          ...reviewLines(seen, 'rejected', true),
          readLine(rejectionReasons[reason], true),
          ...(context.deps.config.mail === null ? [NO_LETTERS] : []),
        ];
        return { lines, verb: 'Reject', seen };
      },
      async act(context, seen) {
        const verdict = { review: 'rejected', reason: reasonIn(context.body) } as const;
        const how = { seen, undoSeconds: UNDO_SECONDS };
        await reviewTranscripts(
          context.deps,
          await joinOf(context.deps, context.params, context.body.join),
          verdict,
          how,
        );
        return { lines: [] };
      },
    },
    person,
  );

  serveAction(
    app,
    deps,
    'reopenTranscripts',
    {
      async preview(context) {
        const { uuid, last } = await decidedSoFar(context);
        if (last && last.by !== context.deps.actor) throw new Failed(alreadyDecided(context.deps, last));
        const seen = await reopenTranscripts(context.deps, uuid, { isTrial: true });
        const lines = [
          `The transcript is not ${seen.review}. It waits for a decision again, and no letter is sent.`,
        ];
        return { lines, verb: 'Take back', seen };
      },
      async act(context, seen) {
        await reopenTranscripts(context.deps, await joinOf(context.deps, context.params, context.body.join), {
          seen,
        });
        return { lines: [] };
      },
    },
    person,
  );

  serveAction<'rejectFinally', FinalRejection>(
    app,
    deps,
    'rejectFinally',
    {
      async preview(context) {
        const { deps, body } = context;
        const { uuid, last } = await decidedSoFar(context);
        const seen = await rejectFinally(deps, uuid, reasonIn(body), { isTrial: true });
        const lines = [
          ...(last ? [alreadyDecided(deps, last)] : []),
          ...rejectionLines(seen, true),
          ...planLines(seen.plan),
          ...previewLines(seen.preview, (time) => dateOf(deps.society, time)),
          totalLine(seen.plan),
          ...(seen.others.length > 0 ? [`${alsoHeld(seen.others)} Refund.`] : []),
          'This cannot be taken back.',
        ];
        return { lines, verb: 'Reject finally', seen };
      },
      async act(context, seen) {
        const { deps, body } = context;
        const { given } = await rejectAndGiveBack(
          deps,
          await joinOf(context.deps, context.params, context.body.join),
          reasonIn(body),
          { seen },
        );
        return { lines: [...given.notes, ...given.refused] };
      },
    },
    person,
  );
}

const ACCEPTED = { review: 'accepted' } as const;
const NO_LETTERS = 'No letter goes out from here (MAIL=elsewhere).';

const NO_REASON = 'Choose one of the reasons.';

const person = ({ params }: { params: DeskContext<Name>['params'] }) => params.id;

function reasonIn({ reason }: { reason: string }): RejectionReason {
  if (!Object.hasOwn(rejectionReasons, reason)) throw new Refusal(400, NO_REASON);
  return reason as RejectionReason;
}

/** Returns the join, the join that owes the proof for it, and the decision in force, if there is one. */
async function decidedSoFar(
  context: ActionContext<Name>,
): Promise<{ uuid: string; join: string; last: Decision | null }> {
  const { database } = context.deps;
  const uuid = await joinOf(context.deps, context.params, context.body.join);
  const join = await proofJoin(database, uuid);
  const last = (await decisionsOn(database, join)).at(-1);
  return { uuid, join, last: last && last.review !== 'open' ? last : null };
}

/** Returns a sentence about an earlier decision: "Already accepted by Robin at 10:42." */
function alreadyDecided({ society, now }: Deps, { at, by, review }: Decision): string {
  const isToday = dayOf(society, at) === dayOf(society, now());
  const day = isToday ? '' : ` on ${dateOf(society, at)}`;
  return `Already ${review}${by === null ? '' : ` by ${by}`}${day} at ${minuteOf(society, at)}.`;
}

/** Returns the full text of the letter that an acceptance sends. Its links do not work. */
async function letterLines(deps: Deps, join: string, { transcripts }: Reviewed): Promise<string[]> {
  if (deps.config.mail === null) return [NO_LETTERS];
  const letter = { kind: 'proof-accepted', sessionUuid: join, occasion: transcripts[0]! } as const;
  const mail = await showUnwritten(deps, letter);
  if (!mail) return ['No email address is known that the letter could go to.'];
  return [`This letter goes to ${mail.to}:`, `${mail.subject}\n\n${mail.text}`];
}
