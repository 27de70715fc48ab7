import type { PersonData } from './loadPerson.ts';

type Join = PersonData['joins'][number];

/** Whether the join has a succeeded payment, so that something may be refunded. */
export const isPaid = ({ payments }: Join) => payments.some(({ status }) => status === 'succeeded');

/** Whether the join bought a membership that is not void. It may have ended; the server then refuses a certificate. */
export const isHeld = ({ payments }: Join) =>
  payments.some(({ memberNumber, standing }) => memberNumber !== null && standing !== 'void');

/** Whether transcripts can be added to a join. */
export const takesTranscripts = ({ state, isErased }: Join) => state === 'paid' && !isErased;
