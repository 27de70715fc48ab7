import type { FastifyRequest } from 'fastify';
import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import { RESUME_THANKS } from '#core/sentences.ts';
import { NO_CONTACT_ID } from '#documents/document.ts';
import { linkedContact } from '../crm/linkedContact.ts';
import { countWithin, TOO_MANY } from '../platform/http/limits.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { personOf } from '../session/members.ts';
import type { Deps } from './deps.ts';
import { insertDocument } from './insertDocument.ts';
import { receiveUpload } from './receiveUpload.ts';

const UNKNOWN_CONTACT =
  'We could not find the person this link is for. Please use the link from your email, or contact us.';

/** Stores a resume for a contact. The form's text fields may come before or after the file. */
export async function uploadResume(deps: Deps, request: FastifyRequest): Promise<Data<'uploadResume'>> {
  const limit = deps.config.limits?.resumesPerAddress;
  if (limit && !(await countWithin(deps.database, 'resume', deps.hashAddress(request.ip), limit)))
    throw new Refusal(429, TOO_MANY, { retryAfter: limit.minutes * 60 });
  const { file, fields } = await receiveUpload(deps, request, {
    name: ({ contactId }) => `contact ${contactId}`,
    proof: { fields: ['contactId', 'exp', 'sig'], check: (fields) => mayLeaveResume(deps, fields) },
  });
  const isKept = await deps.database.transaction().execute(async (trx) => {
    // Locks the contact against a concurrent erasure. If the erasure was first, the contact is gone, and no row is inserted. If
    // the erasure comes later, it also removes this document.
    const { rows } = await sql<{ id: number }>`
      select id from person where id = ${personOf(sql`${fields.contactId}`)} and deleted_at is null for share`.execute(
      trx,
    );
    if (!rows[0]) return false;
    await insertDocument(trx, file, { kind: 'resume', session_uuid: null, person_id: rows[0].id });
    return true;
  });
  if (!isKept) {
    await deps.storage.remove(file.key);
    throw new Refusal(404, UNKNOWN_CONTACT);
  }
  return { success: true, message: RESUME_THANKS };
}

/**
 * Throws unless the form's link to a contact may be used: it has our signature, or unsigned links are permitted and we know the
 * contact.
 */
async function mayLeaveResume(
  deps: Deps,
  { contactId = '', exp, sig }: Record<string, string>,
): Promise<void> {
  if (contactId === '') throw new Refusal(400, NO_CONTACT_ID);
  const link = deps.links.check({ kind: 'resume', contactId }, { exp, sig });
  if (!/^[0-9]{1,20}$/.test(contactId)) throw new Refusal(404, UNKNOWN_CONTACT);
  await linkedContact(deps, contactId, link, UNKNOWN_CONTACT);
}
