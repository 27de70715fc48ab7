import { isHeld as isStandingHeld } from '#core/refunds.ts';
import type { PersonData } from './loadPerson.ts';

type Join = PersonData['joins'][number];

/** Whether the join has a succeeded payment, so that something may be refunded. */
export const isPaid = ({ payments }: Join) => payments.some(({ status }) => status === 'succeeded');

/** Whether the membership that the join bought is held, so that there is a certificate. An upgrade has no member number. */
export const isHeld = ({ payments }: Join) =>
  payments.some(
    ({ memberNumber, standing }) => memberNumber !== null && standing && isStandingHeld(standing),
  );

/** Whether transcripts can be added to a join. */
export const takesTranscripts = ({ state, isErased }: Join) => state === 'paid' && !isErased;
