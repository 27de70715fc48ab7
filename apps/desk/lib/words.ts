import type { DeskData } from '#contract/deskSchemas.ts';

/** The desk's words for the values of its calls. */

type Today = DeskData<'getToday'>;
type Person = DeskData<'getPerson'>;
type Join = Person['joins'][number];
type Payment = Join['payments'][number];

export const queueWords: Record<Today['queues'][number]['name'], string> = {
  transcripts: 'Transcripts to decide',
  proof: 'Proof overdue',
  parcels: 'Parcels to send',
  letters: 'Letters refused',
  hubspot: 'HubSpot refused',
  refundsAsked: 'Refund requests',
  refunds: 'Refunds waiting',
  differences: 'Money that differs',
};

/** The URLs of the queues that have a page. */
export const queueAddresses: Partial<Record<Today['queues'][number]['name'], string>> = {
  transcripts: '/transcripts',
  proof: '/transcripts/overdue',
  parcels: '/parcels',
  letters: '/people?queue=letters',
  hubspot: '/people?queue=hubspot',
  refundsAsked: '/people?queue=refundsAsked',
  refunds: '/people?queue=refunds',
  differences: '/numbers#reconciliation',
};

export const providerWords: Record<Today['providers'][number]['name'], string> = {
  stripe: 'Stripe',
  hubspot: 'HubSpot',
  mail: 'Mail',
};

export const stateWords: Record<Join['state'], string> = {
  started: 'started',
  detailed: 'details given',
  ordering: 'ordering',
  paying: 'paying',
  paid: 'paid',
};

export const paymentWords: Record<Payment['status'], string> = {
  open: 'not paid',
  succeeded: 'paid',
  canceled: 'canceled',
  duplicate: 'paid twice by mistake: all of it goes back',
};

export const standingWords: Record<NonNullable<Payment['standing']>, string> = {
  active: 'active',
  disputed: 'disputed',
  refunded: 'refunded',
  charged_back: 'charged back',
  void: 'void',
};

export const refundWords: Record<Payment['refunds'][number]['status'], string> = {
  due: 'waits',
  pending: 'on its way',
  succeeded: 'made',
  failed: 'refused',
  canceled: 'canceled',
};

export const reviewWords: Record<Person['documents'][number]['review'], string> = {
  open: 'not decided',
  accepted: 'accepted',
  rejected: 'rejected',
};

export const documentWords: Record<Person['documents'][number]['kind'], string> = {
  transcript: 'Transcript',
  resume: 'Resume',
};

/** The colour of each decision on a transcript. */
export const verdictTones = {
  accepted: 'good',
  rejected: 'bad',
  'rejected finally': 'bad',
  'taken back': 'plain',
} as const satisfies Record<DeskData<'getTranscript'>['decisions'][number]['verdict'], string>;

/** Returns a size in bytes in words: "2.4 MB". */
export function sizeWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Returns a count with its noun: "1 join", "3 joins". */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}

/** Returns a count of people: "1 person", "12 people". */
export function people(count: number): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? 'person' : 'people'}`;
}
