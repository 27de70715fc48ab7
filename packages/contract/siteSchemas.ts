import { z } from 'zod';
import { eligibility } from './shapes.ts';

export const site = z.object({
  society: z.object({
    name: z.string(),
    shortName: z.string(),
    tagline: z.string(),
    timeZone: z.string(),
    supportEmail: z.string(),
    supportPhone: z.string(),
    links: z.object({ whoWeAre: z.string(), privacy: z.string(), refunds: z.string() }),
    /** Facts about the society that families can look up elsewhere; absent if the society's file lacks them. */
    legalForm: z.string().optional(),
    taxStatus: z.string().optional(),
    founded: z.int().optional(),
    postalAddress: z.string().optional(),
    statementName: z.string().optional(),
    independence: z.string().optional(),
    deductibility: z.string().optional(),
    colours: z.object({ gold: z.string(), red: z.string() }),
  }),
  defaultProgramme: z.string(),
  programmes: z.record(
    z.string(),
    z.object({
      name: z.string(),
      isTOLA: z.boolean(),
      eligibility,
      /** The refund for a member who is not eligible, in words. */
      refund: z.string(),
      /** The price of the default membership: "$65". */
      membershipFrom: z.string(),
    }),
  ),
  /**
   * The texts of Get Started. In the texts of `facts`, {price} and {refund} are placeholders: the page replaces them by the values
   * of the chosen programme.
   */
  getStarted: z.object({
    lead: z.string(),
    facts: z.array(z.object({ title: z.string(), text: z.string() })),
  }),
  /** The questions and answers at the foot of every page. */
  questions: z.array(z.object({ title: z.string(), text: z.string() })),
  checkout: z.object({ carbonNote: z.string(), donationIntro: z.string(), maximumDonation: z.number() }),
  /** Texts next to prices: for joiners who cannot afford them, about refunds after a change of mind, and about sending goods. */
  hardship: z.string().optional(),
  changeOfMind: z.string(),
  delivery: z.string().optional(),
  congratulations: z.object({
    lead: z.string(),
    emails: z.array(z.object({ title: z.string(), text: z.string(), when: z.string() })),
    store: z.object({
      title: z.string(),
      text: z.string(),
      code: z.string(),
      url: z.string(),
      discountPercent: z.int(),
    }),
  }),
  payments: z.object({
    publishableKey: z.string(),
    /** The URL of the payment emulator's script; null if the page is to load Stripe's own script. */
    scriptUrl: z.string().nullable(),
  }),
  uploadMaxBytes: z.number().nullable(),
  /** Whether the server sends letters, so that joiners can request the link to their join. */
  sendsLetters: z.boolean(),
  /** The origin of the API; empty if it is the page's own origin. */
  apiUrl: z.string(),
});

/** The shapes of the calls that are only about the society. */
export const siteSchemas = {
  getSite: { data: site },
} as const;
