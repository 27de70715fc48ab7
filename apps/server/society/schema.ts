import { z } from 'zod';
import { type CrmField, crmFields } from '#core/crmFields.ts';
import { fromPrice, MINIMUM_CHARGE_CENTS } from '#core/money.ts';
import { productTypes } from '#core/product.ts';

const line = z.string().trim().min(1);
const price = z
  .string()
  .regex(/^\d{1,6}\.\d{2}$/, 'must be dollars with two decimals in quotes, as "65.00"')
  .transform(fromPrice);
const sellable = price.refine(
  (cents) => cents >= MINIMUM_CHARGE_CENTS,
  'must be at least "0.50", the least that a card can be charged',
);
const webAddress = z.url({ protocol: /^https?$/, error: 'must be a web address' });
const timeZone = z.string().refine(isTimeZone, 'must be a time zone as "America/Chicago"');
const days = (least: number, why: string) =>
  z.int().min(least, `must be at least ${least} days: ${why}`).max(36_500);
const colour = z.string().regex(/^#[0-9a-fA-F]{6}$/, 'must be a colour as "#9E1B32"');

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

export const programme = z.strictObject({
  name: line,
  isTOLA: z.boolean(),
  defaultMembership: z.int(),
  processingFee: price,
  transcriptRequired: z.boolean(),
  /** Whether most joiners of the programme are minors. They get reminders only if the society allows it (`remindMinors`). */
  minors: z.boolean().default(true),
  /** The guardian consent sentence: the text of a required checkbox on Student Details. Absent: nothing is asked. */
  guardianConsent: line.optional(),
  eligibility: z.strictObject({ intro: line, rules: z.array(line).min(1), note: line }),
  refund: line,
  /** The refund text for the upgrade, whose fee differs. */
  upgradeRefund: line,
  pages: z.strictObject({
    membershipHeader: line,
    membershipSubheader: line,
    congratulationsHeader: line,
    congratulationsSubheader: line,
    upgradeHeader: line,
    upgradeSubheader: line,
  }),
});

export const catalogueProduct = z.strictObject({
  id: z.int().min(1).max(2_147_483_647),
  uuid: z.uuid().toLowerCase(),
  type: z.enum(productTypes),
  programme: line.optional(),
  name: line,
  description: z.string().default(''),
  icon: z.string().default(''),
  price: sellable.optional(),
  floor: sellable.optional(),
  upgrade: z.int().optional(),
  features: z.array(line).default([]),
  recommended: z.boolean().default(false),
  /** What a membership or upgrade includes that is sent by post. A store item is always sent by post itself. */
  ships: line.optional(),
  /** What an upgrade adds to the certificate, such as "Distinguished Member". */
  distinction: line.optional(),
});

const fieldRule = z.strictObject({
  property: z
    .string()
    .regex(/^[a-z][a-z0-9_]*$/, 'must be the internal name of a property: small letters, digits and _')
    .nullable(),
  write: z.enum(['overwrite', 'blanks', 'never']).default('overwrite'),
});

/** The schema of society.yaml. It converts prices to cents. */
export const societyFile = z.strictObject({
  crm: z
    .strictObject({
      fields: z.partialRecord(z.enum(crmFields as [CrmField, ...CrmField[]]), fieldRule).default({}),
      attachDocuments: z.boolean().default(true),
    })
    .default({ fields: {}, attachDocuments: true }),
  society: z.strictObject({
    name: line,
    shortName: line,
    tagline: line,
    supportEmail: z.email(),
    supportPhone: line,
    /** The time zone of the dates on papers. */
    timeZone: timeZone.default('UTC'),
    links: z.strictObject({ whoWeAre: webAddress, privacy: webAddress, refunds: webAddress }),
    colours: z.strictObject({ gold: colour, red: colour }),
  }),
  programmes: z.record(
    z.string().regex(/^[a-z][a-z0-9-]*$/, 'must be small letters, digits and hyphens'),
    programme,
  ),
  catalogue: z.array(catalogueProduct).min(1),
  donations: z.strictObject({ maximum: sellable }),
  pages: z.strictObject({
    getStarted: z.strictObject({
      lead: line,
      facts: z.array(z.strictObject({ title: line, text: line })).max(4),
    }),
    questions: z
      .array(z.strictObject({ title: line, text: line }))
      .max(6)
      .default([]),
    /** The sentence on who invited the joiner and why: with {school}, without a school, and for self-nominations. */
    studentDetails: z.strictObject({ invitedThroughSchool: line, invited: line, nominated: line }),
    checkout: z.strictObject({ donationIntro: line, carbonNote: line }),
    congratulations: z.strictObject({
      lead: line,
      emails: z
        .array(z.strictObject({ title: line, text: line, when: line }))
        .length(3, 'must list three emails'),
    }),
  }),
  letters: z
    .strictObject({
      /** Days between the payment and the letter. The congratulations page (`when`) should promise the same. */
      certificateAfterDays: z.int().min(0).max(60).default(1),
      portalAfterDays: z.int().min(0).max(60).default(7),
      /** Whether joiners who left a join behind get reminders. Off by default, since the society must decide. */
      reminders: z.boolean().default(false),
      /** Whether reminders are also sent in programmes for minors. */
      remindMinors: z.boolean().default(false),
      /** The address of the members' portal. Without it the letter about the portal links to the welcome page. */
      portal: webAddress.optional(),
      /** The society's postal address, shown at the foot of every letter. */
      postalAddress: line.optional(),
    })
    .default({ certificateAfterDays: 1, portalAfterDays: 7, reminders: false, remindMinors: false }),
  /** The number of days after which personal data is removed. Without a setting it is kept for ever (docs/privacy.md). */
  retention: z
    .strictObject({
      /** Joins that were never paid: days since the last activity. */
      abandonedDays: days(3, 'joiners come back, and are reminded after two days').optional(),
      /** Paid joins: days since the payment. The member number and the certificate end with the join. */
      paidDays: days(180, 'a payment can be disputed for months').optional(),
      /** Joins whose transcript was finally rejected: days since that decision. */
      rejectedDays: days(30, 'the refund has to arrive, and the applicant may ask').optional(),
      /** After so many days uploaded files are deleted: transcripts counted from the decision of staff, resumes from their upload. */
      documentsDays: days(1, 'the decision has to reach the applicant').optional(),
      /** Notices to staff, which may name people: days since they were written. A join's notices also go with the join. */
      noticesDays: days(90, 'staff act on a notice within weeks').optional(),
    })
    .default({}),
  certificate: z
    .strictObject({
      /** The words after the name: "has been admitted …". */
      citation: line,
      /** The texts under the lines for signatures, the left one first. */
      signatures: z
        .array(z.strictObject({ title: line, name: line.optional() }))
        .min(1)
        .max(2),
    })
    .default({ citation: 'has been admitted to membership', signatures: [{ title: 'President' }] }),
  /** The society's own texts beside the facts. Absent texts are left out. */
  pressRelease: z
    .strictObject({
      why: line.optional(),
      /** The quote. `by` names the speaker and stands in the middle of a sentence. */
      quote: z.strictObject({ text: line, by: line }).optional(),
      about: line.optional(),
    })
    .default({}),
  store: z.strictObject({
    title: line,
    text: line,
    discountPercent: z.int().min(1).max(100),
    code: line,
    url: webAddress,
  }),
});

export type SocietyFile = z.output<typeof societyFile>;
