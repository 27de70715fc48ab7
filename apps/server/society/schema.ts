import { z } from 'zod';
import { cleanText } from '#core/cleanText.ts';
import { type CrmField, crmFields } from '#core/crmFields.ts';
import { fromPrice, MINIMUM_CHARGE_CENTS } from '#core/money.ts';
import { productTypes } from '#core/product.ts';
import { refundParts } from '#core/refundRequest.ts';

const line = z.string().trim().min(1);
/** A text that is printed on certificates or press releases, where its line breaks and invisible characters would be visible. */
const printed = z.string().overwrite(cleanText).min(1);
/** A text for which certificates have one or two lines. A longer text would be printed too small to read. */
const printedLine = (most: number) =>
  printed.max(most, `must have at most ${most} characters: it would be too small on certificates`);
const DOLLARS = 'must be dollars with two decimals in quotes, as "65.00"';
const price = z
  .string(DOLLARS)
  .regex(/^\d{1,6}\.\d{2}$/, DOLLARS)
  .transform(fromPrice);
const sellable = price.refine(
  (cents) => cents >= MINIMUM_CHARGE_CENTS,
  'must be at least "0.50", the least that a card can be charged',
);
const webAddress = z.url({ protocol: /^https?$/, error: 'must be a web address' });
const timeZone = z.string().refine(isTimeZone, 'must be a time zone as "America/Chicago"');
const days = (least: number, why: string) =>
  z.int().min(least, `must be at least ${least} days: ${why}`).max(36_500);
const COLOUR = 'must be a colour in quotes, as "#9E1B32"';
const colour = z.string(COLOUR).regex(/^#[0-9a-fA-F]{6}$/, COLOUR);

/** Whether a text is empty, SVG, an image's data: URL, a path, or an https URL whose host a content security policy can name. */
function isPicture(icon: string): boolean {
  if (!icon.startsWith('https:')) return /^(\s*<|data:image\/|\/[^\s/]\S*$|$)/.test(icon);
  return URL.canParse(icon) && /^[a-z0-9.-]+$/i.test(new URL(icon).hostname);
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

export const programme = z.strictObject({
  name: printedLine(100),
  isTOLA: z.boolean(),
  defaultMembership: z.int(),
  processingFee: price,
  transcriptRequired: z.boolean(),
  /** Whether most joiners of the programme are minors. If so, reminders are sent only if `remindMinors` is set. */
  minors: z.boolean().default(true),
  /**
   * The guardian consent sentence, the text of a required checkbox on Student Details, and on Checkout if the join lacks it. If
   * absent, there is no checkbox.
   */
  guardianConsent: line.optional(),
  /** The sentence to which a payer by a pay link must agree. If absent, `guardianConsent` is used. */
  payerConsent: line.optional(),
  /** No join begins in a retired programme. Its entry remains for its members, and for the joins that have begun. */
  retired: z.boolean().default(false),
  eligibility: z.strictObject({
    intro: line,
    rules: z.array(line).min(1),
    note: line,
    /** The rules in a few words, shown below the heading of Membership. */
    inShort: line.max(80, 'must have at most 80 characters: phones show it in one or two lines').optional(),
    /** A note on Student Details for a GPA below `below`: the other ways to qualify. The joiner can continue. */
    lowGpa: z
      .strictObject({
        below: z.string().regex(/^[0-4]\.\d$/, 'must be a GPA in quotes, as "3.5"'),
        note: line,
      })
      .optional(),
  }),
  refund: line,
  /** The refund text of an upgrade. The refund of an upgrade keeps no processing fee. */
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
  /** The product's picture. Browsers block pictures from other sites unless they are loaded by https. */
  icon: z
    .string()
    .refine(isPicture, "must be SVG text, or an image's data: URL, https address, or path that begins with /")
    .default(''),
  price: sellable.optional(),
  floor: sellable.optional(),
  upgrade: z.int().optional(),
  features: z.array(line).default([]),
  /** Whether Checkout offers this store item. */
  recommended: z.boolean().default(false),
  /**
   * A retired product is offered nowhere. Its entry remains for the pages, letters and certificates of those who have ordered it.
   */
  retired: z.boolean().default(false),
  /** The goods that are sent by post for a membership or upgrade. Absent for a store item, which is itself sent. */
  ships: line.optional(),
  /** What a donation of this amount pays for, shown after the amount: "$10 a study guide". */
  does: line.max(40, 'must have at most 40 characters').optional(),
  /** The words that an upgrade adds to the certificate, such as "Distinguished Member". */
  distinction: printedLine(60).optional(),
});

const fieldRule = z.strictObject({
  property: z
    .string()
    .regex(/^[a-z][a-z0-9_]*$/, 'must be the internal name of a property: small letters, digits and _')
    .nullable(),
  write: z.enum(['overwrite', 'blanks', 'never']).default('overwrite'),
});

/** The schema of society.yaml. Prices are converted to cents. */
export const societyFile = z.strictObject({
  crm: z
    .strictObject({
      fields: z.partialRecord(z.enum(crmFields as [CrmField, ...CrmField[]]), fieldRule).default({}),
      attachDocuments: z.boolean().default(true),
    })
    .default({ fields: {}, attachDocuments: true }),
  society: z.strictObject({
    name: printedLine(120),
    shortName: line,
    tagline: line,
    supportEmail: z.email(),
    supportPhone: printed,
    /** The time zone in which dates are written and days end. */
    timeZone: timeZone.default('UTC'),
    links: z.strictObject({ whoWeAre: webAddress, privacy: webAddress, refunds: webAddress }),
    /** Facts about the society that families can look up elsewhere. Absent ones are not shown. */
    legalForm: line.optional(),
    taxStatus: line.optional(),
    founded: z.int().min(1700).max(2100).optional(),
    /** The name on card statements, at most 22 characters (https://docs.stripe.com/get-started/account/statement-descriptors). */
    statementName: line.max(22, 'must have at most 22 characters, as card statements do').optional(),
    /** A sentence, shown with every invitation through a school, that the society is not part of the school. */
    independence: line.optional(),
    /** Whether donations are tax-deductible, shown next to them and on the receipt. */
    deductibility: line.optional(),
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
    /**
     * Sentences about who invited the joiner: with {school}, without a school, and for self-nominations. They give no reason for
     * the invitation.
     */
    studentDetails: z.strictObject({
      invitedThroughSchool: line,
      invited: line,
      nominated: line,
      /** A sentence with the nominator's name ({nominatedBy}), shown after the sentence about the invitation. */
      nominatedBy: line.default('Nominated by {nominatedBy}.'),
    }),
    checkout: z.strictObject({ donationIntro: line, carbonNote: line }),
    /** Help for joiners who cannot afford the prices, shown next to them. */
    hardship: line.optional(),
    congratulations: z.strictObject({
      lead: line,
      emails: z
        .array(z.strictObject({ title: line, text: line, when: line }))
        .length(3, 'must list three emails'),
    }),
  }),
  letters: z
    .strictObject({
      /**
       * Days from the payment until the letter about the certificate is sent. The text `when` of the congratulations page
       * announces when each email comes, and should agree with this number and the next one.
       */
      certificateAfterDays: z.int().min(0).max(60).default(1),
      /** Days from the payment until the letter about the portal is sent. */
      portalAfterDays: z.int().min(0).max(60).default(7),
      /** Whether reminders are sent about joins that were left behind. Off by default, since the society must decide. */
      reminders: z.boolean().default(false),
      /** Whether reminders are also sent in programmes for minors. */
      remindMinors: z.boolean().default(false),
      /** The URL of the members' portal. If absent, the letter about the portal links to the welcome page. */
      portal: webAddress.optional(),
      /** The society's postal address, shown at the end of every letter and on /check. */
      postalAddress: line.optional(),
    })
    .default({ certificateAfterDays: 1, portalAfterDays: 7, reminders: false, remindMinors: false }),
  /** The button with which members request a refund. */
  refunds: z
    .strictObject({
      /** How many days after the payment a refund can be requested; 0 for never. */
      askDays: z.int().min(0).max(3_650).default(30),
      /** The number of days within which staff answer. */
      answerDays: z.int().min(1).max(60).default(5),
      /** The parts of an order that can be refunded on request. Goods that were sent are not refunded. */
      gives: z.array(z.enum(refundParts)).min(1).default(['membership', 'upgrade', 'items']),
    })
    .default({ askDays: 30, answerDays: 5, gives: ['membership', 'upgrade', 'items'] }),
  /** The days after which personal data is removed. Data without a setting is kept for ever (docs/privacy.md). */
  retention: z
    .strictObject({
      /** For joins that were never paid: days since the last activity. */
      abandonedDays: days(3, 'joiners come back, and are reminded after two days').optional(),
      /** For paid joins: days since the payment. The member number and the certificate become invalid with the join. */
      paidDays: days(180, 'a payment can be disputed for months').optional(),
      /** For joins whose transcript was finally rejected: days since that decision. */
      rejectedDays: days(30, 'the refund has to arrive, and the applicant may ask').optional(),
      /** For uploaded files: days since the decision of staff on a transcript, or since the upload of a resume. */
      documentsDays: days(1, 'the decision has to reach the applicant').optional(),
      /**
       * For notices to staff, which may name people: days since their cause occurred last. The notices of a join are also removed
       * with the join.
       */
      noticesDays: days(90, 'staff act on a notice within weeks').optional(),
    })
    .default({}),
  certificate: z
    .strictObject({
      /** The text after the name: "has been admitted …". */
      citation: printedLine(300),
      /** The texts below the signature lines, from left to right. */
      signatures: z
        .array(z.strictObject({ title: printedLine(60), name: printedLine(60).optional() }))
        .min(1)
        .max(2),
    })
    .default({ citation: 'has been admitted to membership', signatures: [{ title: 'President' }] }),
  /** The society's own texts in press releases. Absent texts are left out. */
  pressRelease: z
    .strictObject({
      why: printed.optional(),
      /** A quote. `by` is the speaker, in the form that follows "said" in the press release. */
      quote: z.strictObject({ text: printed, by: printed }).optional(),
      about: printed.optional(),
    })
    .default({}),
  store: z.strictObject({
    title: line,
    text: line,
    discountPercent: z.int().min(1).max(100),
    code: line,
    url: webAddress,
    /** Where and when goods are sent, and the cost of sending. Shown with each item, in the order and on the receipt. */
    delivery: line.optional(),
  }),
});

export type SocietyFile = z.output<typeof societyFile>;
