import { cleanEmail } from '#core/cleanText.ts';
import { type Holding, seesJoiner } from '#core/holding.ts';
import { PROVE_FIRST } from '#core/pass.ts';
import { countWithin, TOO_MANY } from '../platform/http/limits.ts';
import { Refusal, sessionNotFound } from '../platform/http/refusal.ts';
import { standingFor } from '../session/standing.ts';
import { ChangedMeanwhile, correctPerson, NotCorrectable, previewCorrection } from './correctPerson.ts';
import type { Deps } from './deps.ts';
import { personNamed } from './personNamed.ts';

const TRY_AGAIN = 'Your email could not be changed at this moment. Please try again in a minute.';

/**
 * Corrects the email of a paid join for its joiner. If the email changes, the confirmation is sent again, and the former address
 * gets a letter about the change. Throws a {@link Refusal}:
 * - 404, 409: the browser does not hold the join, or it is not paid.
 * - 403: the browser may not see who the joiner is.
 * - 400: letters cannot go to the new email.
 * - 429: the email was corrected too often.
 * - 503: the person is being changed otherwise, somebody is being erased, or Stripe does not answer.
 */
export async function correctOwnEmail(
  deps: Deps,
  uuid: string,
  { email: given, holding }: { email: string; holding: Holding },
): Promise<{ email: string }> {
  const standing = await standingFor(deps, 'readUpgrade', uuid, holding);
  if (!seesJoiner(holding, standing)) throw new Refusal(403, PROVE_FIRST);
  const personId = await personNamed(deps.database, uuid);
  if (personId === null) throw sessionNotFound();
  const change = { personalEmail: cleanEmail(given) };
  try {
    const seen = await previewCorrection(deps, personId, change);
    const limit = deps.config.limits?.emailCorrectionsPerJoin;
    if (limit && !(await countWithin(deps.database, 'email corrections', uuid, limit)))
      throw new Refusal(429, TOO_MANY, { retryAfter: limit.minutes * 60 });
    const isOther = seen.fields.length > 0;
    await correctPerson(deps, personId, change, { seen, resends: isOther, tellsFormer: isOther });
    return { email: change.personalEmail };
  } catch (error) {
    if (error instanceof NotCorrectable) {
      const { personalEmail: sentence = error.message } = error.errors;
      throw new Refusal(400, sentence, { errors: { email: sentence } });
    }
    if (error instanceof ChangedMeanwhile) throw new Refusal(503, TRY_AGAIN, { retryAfter: 60 });
    throw error;
  }
}
