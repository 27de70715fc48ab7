import type { ColumnType, Generated } from 'kysely';
import type { Contact } from '#core/contact.ts';
import type { CrmValues } from '#core/crmFields.ts';
import type { JoinSessionState } from '#core/joinSession.ts';
import type { LetterKind } from '#core/letterKinds.ts';
import type { OpenLine, OrderLine } from '#core/orderLine.ts';
import type { Difference } from '#core/reconciliation.ts';
import type { Asked } from '#core/refundRequest.ts';
import type { Dispute, GivenBack, MembershipStanding, RefundReason, RefundStatus } from '#core/refunds.ts';
import type { Remedy } from '#core/remedy.ts';
import type { StoryCause, StoryDetail, StoryStep } from '#core/story.ts';
import type { StudentDetails } from '#core/studentDetails.ts';
import type { RejectionReason } from '#documents/document.ts';

/** The tables that the migrations create, as types for Kysely. */
export interface Tables {
  person: PersonTable;
  crm_delivery: CrmDeliveryTable;
  invitation: InvitationTable;
  /**
   * How many invitations were created, by quarter of an hour, programme, school and campaign. Triggers write the rows. The same
   * group may have several rows: their counts are added up.
   */
  invitation_count: {
    made_at: Date;
    programme: string | null;
    school: string | null;
    campaign: string | null;
    count: number;
  };
  join_session: JoinSessionTable;
  order_snapshot: OrderSnapshotTable;
  payment: PaymentTable;
  membership: MembershipTable;
  document: DocumentTable;
  upload_link: { token_hash: Buffer; session_uuid: string; expires_at: Date; created_at: Timestamp };
  refund_request: {
    session_uuid: string;
    amount_cents: number;
    asked: Json<Asked>;
    declined_at: NullableTimestamp;
    declined_by: string | null;
    sentence: string | null;
    created_at: Timestamp;
  };
  pay_link: { session_uuid: string; token_hash: Buffer; expires_at: Date; created_at: Timestamp };
  limit_count: { name: string; key: string; window_start: Date; count: number };
  staff_notice: StaffNoticeTable;
  browser_report: {
    directive: string;
    blocked: string;
    page: string;
    count: Generated<string>;
    first_seen_at: Timestamp;
    last_seen_at: Timestamp;
  };
  page_file: { path: string; content: Buffer; started_at: Timestamp };
  refund: RefundTable;
  shipment: ShipmentTable;
  join_event: JoinEventTable;
  card_failure: {
    charge_id: string;
    session_uuid: string;
    address_hash: string | null;
    created_at: Timestamp;
  };
  stripe_event: { id: string; handled_at: Timestamp };
  event_retry: EventRetryTable;
  schedule: { name: string; due_at: Timestamp; reached_at: NullableTimestamp; cursor: string | null };
  crm_budget: {
    name: string;
    tokens: number;
    refilled_at: Timestamp;
    blocked_until: ColumnType<Date | number, Date | string, Date | string>;
    failures: Generated<number>;
  };
  letter: LetterTable;
  pass: PassTable;
  reminder_stop: { email_hash: Buffer; stopped_at: Timestamp };
  pass_request: { id: Generated<string>; email: string; created_at: Timestamp };
  reconciliation: ReconciliationTable;
  secret: { name: string; value: string };
  erasure: { email_hash: Buffer; erased_at: Timestamp };
  forget_at_stripe: { stripe_id: string; kind: 'intent' | 'customer' };
  person_note: PersonNoteTable;
  left_at_hubspot: { email_hash: Buffer; kind: 'contact' | 'file'; hubspot_id: string };
}

type Json<T> = ColumnType<T, string, string>;
type Timestamp = ColumnType<Date, Date | string | undefined, Date | string>;
type NullableTimestamp = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;

export type ContactProfile = Partial<Contact>;
export type Origin = 'invite' | 'school' | 'self_nomination' | 'link' | 'checkout';

export interface PersonTable {
  id: Generated<number>;
  /** HubSpot's id of the contact that is this person; null if there is none. */
  contact_id: string | null;
  made_contact: Generated<boolean>;
  /** The contact that HubSpot has under this person's email. The contact may be somebody else. */
  found_contact_id: string | null;
  details: Json<StudentDetails> | null;
  profile: Json<ContactProfile>;
  email: string | null;
  is_member: Generated<boolean>;
  fetched_at: NullableTimestamp;
  deleted_at: NullableTimestamp;
  likeness: string | null;
  words: Generated<string>;
  merged_into: number | null;
  erased_at: NullableTimestamp;
  created_at: Timestamp;
}

export interface CrmDeliveryTable {
  person_id: number;
  revision: Generated<number>;
  due_since: NullableTimestamp;
  due_at: NullableTimestamp;
  tries: Generated<number>;
  refusal: string | null;
  sent: ColumnType<CrmValues, string | undefined, string>;
}

export interface InvitationTable {
  code: string;
  person_id: number | null;
  school: string | null;
  programme: string | null;
  nominated_by: string | null;
  expires_at: NullableTimestamp;
  created_at: Timestamp;
  is_withdrawn: Generated<boolean>;
  /** When and by which member of staff the code was last withdrawn; null if it never was. */
  withdrawn_at: NullableTimestamp;
  withdrawn_by: string | null;
  /** The mailing with which the invitation was sent. */
  campaign: string | null;
}

export interface JoinSessionTable {
  uuid: Generated<string>;
  state: Generated<JoinSessionState>;
  origin: Origin;
  programme: string;
  /** Null once the join is erased. */
  person_id: number | null;
  invitation_code: string | null;
  school: string | null;
  details: Json<StudentDetails> | null;
  lines: ColumnType<OpenLine[], string | undefined, string>;
  has_agreed_to_policies: Generated<boolean>;
  /**
   * The sentence of the guardian consent that the joiner agreed to, and the time of the first agreement. Both are null before
   * that, and if the programme asks for none.
   */
  guardian_consent: string | null;
  guardian_consent_at: NullableTimestamp;
  upsell_product_id: number | null;
  revision: Generated<number>;
  paying_since: NullableTimestamp;
  /** The revision of the order for which a payment was last begun; null if no payment was begun. */
  begun_revision: number | null;
  intent_changing_since: NullableTimestamp;
  intent_change: string | null;
  provider_failures: Generated<number>;
  paid_at: NullableTimestamp;
  upgrade: Generated<'open' | 'skipped' | 'taken'>;
  address_hash: string | null;
  /**
   * When the join was erased; null if it was not. The row of an erased join is kept as a record of its money, without personal
   * data.
   */
  erased_at: NullableTimestamp;
  /** When a browser's user first proved that they are the joiner; null before that. */
  proven_at: NullableTimestamp;
  created_at: Timestamp;
  updated_at: Timestamp;
}

export interface OrderSnapshotTable {
  session_uuid: string;
  kind: 'join' | 'upgrade';
  revision: number;
  amount_cents: number;
  items: Json<OrderLine[]>;
  /**
   * The goods of each line, in the order of `items`; null for a line without goods. The whole column is null if Stripe did not know
   * them after a restore; the goods are then those of society.yaml.
   */
  goods: ColumnType<(string | null)[] | null, string | null | undefined, string | null>;
  /** The processing fee (cents) that the order promised. Null like `goods`, and then the fee of society.yaml applies. */
  processing_fee_cents: number | null;
  created_at: Timestamp;
}

export interface PaymentTable {
  intent_id: string;
  session_uuid: string;
  kind: 'join' | 'upgrade';
  attempt: number;
  status: 'open' | 'succeeded' | 'canceled' | 'duplicate';
  client_secret: string;
  /** Stripe's customer id; empty if the intent has no customer. */
  customer_id: string;
  amount_cents: number;
  revision: number;
  /** The email to which Stripe was asked to send a receipt. Stripe may have rejected the address. */
  receipt_email: string | null;
  saves_card: boolean | null;
  payment_method_id: string | null;
  card_brand: string | null;
  card_last4: string | null;
  refunded_cents: Generated<number>;
  dispute: Dispute | null;
  followed: Generated<number>;
  /** Whether the payment is made by a pay link. If so, its card and its email are the payer's. */
  by_pay_link: Generated<boolean>;
  /** The payer's name, if the payment is made by a pay link. Null if the joiner pays, or the payer was erased. */
  payer_name: string | null;
  /** The guardian consent sentence to which the payer agreed, and when. */
  payer_consent: string | null;
  payer_consent_at: NullableTimestamp;
  succeeded_at: NullableTimestamp;
  /** Whether goods of the payment were not sent, even goods that are no longer to be sent. Set by triggers. */
  has_unsent_goods: Generated<boolean>;
  checked_at: Timestamp;
  looked_at: NullableTimestamp;
  seen_status: string | null;
  seen_at: NullableTimestamp;
  created_at: Timestamp;
  updated_at: Timestamp;
}

export interface MembershipTable {
  id: Generated<number>;
  session_uuid: string;
  person_id: number | null;
  product_id: number;
  type: 'membership' | 'membership_upgrade';
  payment_intent: string;
  standing: Generated<MembershipStanding>;
  is_held: ColumnType<boolean, never, never>;
  /** The member number of a row of type `membership`, set by a trigger; null for upgrades. */
  member_number: Generated<string | null>;
  is_unlisted: Generated<boolean>;
  created_at: Timestamp;
}

export interface DocumentTable {
  id: string;
  kind: 'transcript' | 'resume';
  session_uuid: string | null;
  person_id: number | null;
  name: string;
  media_type: string;
  size_bytes: number;
  sha256: Buffer;
  storage_key: string;
  review: Generated<'open' | 'accepted' | 'rejected'>;
  reason: RejectionReason | null;
  is_final: Generated<boolean>;
  reviewed_at: NullableTimestamp;
  crm_file_id: string | null;
  crm_note_id: string | null;
  /** When the file and its name were removed; null before that. What staff decided about the document is kept. */
  removed_at: NullableTimestamp;
  crm_attempts: Generated<number>;
  /** When to attach it; null once that is done. */
  crm_next_try_at: NullableTimestamp;
  crm_refusal: string | null;
  created_at: Timestamp;
}

export interface RefundTable {
  uuid: Generated<string>;
  intent_id: string;
  stripe_id: string | null;
  amount_cents: number;
  reason: RefundReason;
  lines: ColumnType<GivenBack['lines'], string | null | undefined, string | null>;
  status: RefundStatus;
  attempts: Generated<number>;
  next_try_at: Timestamp;
  refusal: string | null;
  /**
   * Whether the row stands for a lost dispute. If so, `amount_cents` is the amount that the dispute took, `stripe_id` is the
   * dispute's id, and `reason` is `dashboard`.
   */
  is_dispute: Generated<boolean>;
  assigned_at: NullableTimestamp;
  created_at: Timestamp;
  updated_at: Timestamp;
}

export interface EventRetryTable {
  id: string;
  /** The event as Stripe sent it. books/catchUp.ts processes it again. */
  event: Json<object>;
  attempts: Generated<number>;
  next_try_at: ColumnType<Date, Date | string, Date | string>;
  created_at: Timestamp;
}

export interface ShipmentTable {
  id: Generated<number>;
  session_uuid: string;
  intent_id: string;
  line: number;
  product_id: number;
  goods: string;
  shipped_at: Timestamp;
  shipped_by: string;
  note: string | null;
  unshipped_at: NullableTimestamp;
  unshipped_by: string | null;
}

/** The steps of joins (their story). Only triggers insert rows. */
export interface JoinEventTable {
  id: ColumnType<number, never, never>;
  session_uuid: ColumnType<string, never, never>;
  at: ColumnType<Date, never, never>;
  step: ColumnType<StoryStep, never, never>;
  cause: ColumnType<StoryCause, never, never>;
  actor: ColumnType<string | null, never, never>;
  detail: ColumnType<StoryDetail | null, never, never>;
}

/** Notes of staff about a person. */
export interface PersonNoteTable {
  id: Generated<number>;
  person_id: number;
  /** The note's text; null once the note is removed. */
  text: string | null;
  written_by: string;
  created_at: Timestamp;
  removed_by: string | null;
  removed_at: NullableTimestamp;
}

export interface ReconciliationTable {
  id: Generated<number>;
  started_at: Timestamp;
  finished_at: Timestamp;
  counts: Json<Record<string, number>>;
  differences: Json<Difference[]>;
}

export interface LetterTable {
  id: Generated<string>;
  kind: LetterKind;
  session_uuid: string | null;
  occasion: string;
  email: string | null;
  data: ColumnType<Record<string, unknown>, string | undefined, string>;
  due_at: Timestamp;
  attempts: Generated<number>;
  next_try_at: Timestamp;
  sent_at: NullableTimestamp;
  refusal: string | null;
  withdrawn_at: NullableTimestamp;
  created_at: Timestamp;
}

export interface PassTable {
  session_uuid: string;
  revoked_at: NullableTimestamp;
  tries: Generated<number>;
  name_tries: Generated<number>;
  code_hash: Buffer | null;
  code_browser: Buffer | null;
  code_expires_at: NullableTimestamp;
}

export interface StaffNoticeTable {
  id: Generated<number>;
  kind: string;
  session_uuid: string | null;
  params: Json<object>;
  remedy: Json<Remedy | null>;
  count: Generated<number>;
  created_at: Timestamp;
  last_seen_at: Timestamp;
  ended_at: Date | null;
  ended_by: string | null;
}
