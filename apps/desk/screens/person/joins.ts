import type { PersonData } from './loadPerson.ts';

type Join = PersonData['joins'][number];

/** Whether something of a join was paid for, so that it can go back. */
export const isPaid = ({ payments }: Join) => payments.some(({ status }) => status === 'succeeded');

/** Whether a certificate can be made of a join: its membership is held. */
export const isHeld = ({ payments }: Join) =>
  payments.some(({ memberNumber, standing }) => memberNumber !== null && standing !== 'void');

/** Whether a join takes transcripts. */
export const takesTranscripts = ({ state, isErased }: Join) => state === 'paid' && !isErased;
