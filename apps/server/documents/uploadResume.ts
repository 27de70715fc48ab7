import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Data } from '#contract/schemas.ts';
import { RESUME_THANKS } from '#core/sentences.ts';
import { NO_CONTACT_ID } from '#documents/document.ts';
import { presentId } from '../contacts/crmId.ts';
import { linkedContact } from '../contacts/linkedContact.ts';
import type { Deps } from '../deps.ts';
import { countWithin, TOO_MANY } from '../platform/http/limits.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { receiveUpload } from './receiveUpload.ts';

const UNKNOWN_CONTACT =
  'We could not find the person this link is for. Please use the link from your email, or contact us.';

/** Takes a resume for a known contact. The form's fields may come before or after its file. */
export async function uploadResume(deps: Deps, request: FastifyRequest): Promise<Data<'uploadResume'>> {
  const limit = deps.config.limits?.resumesPerAddress;
  if (limit && !(await countWithin(deps.database, 'resume', deps.hashAddress(request.ip), limit)))
    throw new Refusal(429, TOO_MANY, { retryAfter: limit.minutes * 60 });
  const { file, fields } = await receiveUpload(deps, request, {
    name: ({ contactId }) => `contact ${contactId}`,
    proof: { fields: ['contactId', 'exp', 'sig'], check: (fields) => mayLeaveResume(deps, fields) },
  });
  // A failed insert may have been committed all the same: the bytes stay, as a transcript's do.
  await deps.database
    .insertInto('document')
    .values({
      id: randomUUID(),
      kind: 'resume',
      session_uuid: null,
      contact_id: presentId(fields.contactId!),
      name: file.name,
      media_type: file.mediaType,
      size_bytes: file.sizeBytes,
      sha256: file.sha256,
      storage_key: file.key,
    })
    .execute();
  return { success: true, message: RESUME_THANKS };
}

/** Throws unless the form names a contact that we know, by a link that we signed. */
async function mayLeaveResume(
  deps: Deps,
  { contactId = '', exp, sig }: Record<string, string>,
): Promise<void> {
  if (contactId === '') throw new Refusal(400, NO_CONTACT_ID);
  const link = deps.links.check({ kind: 'resume', contactId }, { exp, sig });
  if (!/^[0-9]{1,20}$/.test(contactId)) throw new Refusal(404, UNKNOWN_CONTACT);
  await linkedContact(deps, contactId, link, UNKNOWN_CONTACT);
}
