import type { z } from 'zod';
import type { ContactField } from '#core/contact.ts';
import type { CallName, SpecifiedCall } from './calls.ts';
import { documentSchemas } from './documentSchemas.ts';
import { joiningSchemas } from './joiningSchemas.ts';
import { memberSchemas } from './memberSchemas.ts';
import { passSchemas } from './passSchemas.ts';
import { payingSchemas } from './payingSchemas.ts';
import { type failure, type product, success } from './shapes.ts';
import { type site, siteSchemas } from './siteSchemas.ts';

/**
 * For each call (specification, sections 3 and 7), the schemas of its path parameters, its body, and the `data` of its success.
 * They are split into files by topic.
 */
export const schemas = {
  ...siteSchemas,
  ...joiningSchemas,
  ...payingSchemas,
  ...documentSchemas,
  ...memberSchemas,
  ...passSchemas,
} as const satisfies Record<CallName, { params?: z.ZodType; body?: z.ZodType; data: z.ZodType }>;

/** Returns the schema of the whole response body of a successful call. */
export function successOf<Name extends CallName>(name: Name) {
  return success(schemas[name].data as (typeof schemas)[Name]['data']);
}

type Schemas = typeof schemas;
export type Data<Name extends CallName> = z.output<Schemas[Name]['data']>;
export type Body<Name extends CallName> = Schemas[Name] extends { body: infer B extends z.ZodType }
  ? z.input<B>
  : undefined;
export type ParsedBody<Name extends CallName> = Schemas[Name] extends { body: infer B extends z.ZodType }
  ? z.output<B>
  : undefined;
/** The fields that the specification's table names in each call's answer (section 7). Another server may return only these. */
interface SpecifiedFields {
  checkEligibility: 'status' | 'message' | 'contactId';
  initiateJoin: 'uuid' | 'message';
  initiateSchoolJoin: 'uuid' | 'message';
  initiateSelfNomination: 'uuid' | 'message';
  initJoin: 'uuid' | 'message';
  getContact: ContactField;
  submitDetails: never;
  getMembershipDetails:
    | 'memberships'
    | 'selectedMembershipId'
    | 'membershipPageHeader'
    | 'membershipPageSubheader';
  setMembership: 'status';
  getCheckoutDetails:
    | 'donationOptions'
    | 'billingEmail'
    | 'isCheckoutOnly'
    | 'products'
    | 'recommendedProducts';
  setSessionProduct: keyof Product;
  deleteSessionProduct: never;
  setCustomDonation: keyof Product;
  createPaymentIntent: 'clientSecret';
  postPayment: never;
  getUpgradeDetails:
    | 'upgradeOption'
    | 'isEligibleForUpgrade'
    | 'isSelfNomination'
    | 'features'
    | 'congratulationsHeader'
    | 'congratulationsSubheader'
    | 'upgradeHeader'
    | 'upgradeSubheader';
  createUpgradeCharge: 'status';
  initiateCheckout: 'joinSessionUuid' | 'message';
  uploadTranscript: never;
  uploadResume: 'success' | 'message';
}
/**
 * The `data` of an answer as far as pages may rely on it. For a call in the specification, only the specified fields are certain.
 */
export type Answered<Name extends CallName> = Name extends SpecifiedCall
  ? Pick<Data<Name>, SpecifiedFields[Name] & keyof Data<Name>> & Partial<Data<Name>>
  : Data<Name>;
export type Params<Name extends CallName> = Schemas[Name] extends { params: infer P extends z.ZodType }
  ? z.input<P>
  : Record<string, never>;
export type Failure = z.output<typeof failure>;
export type Product = z.output<typeof product>;
export type Site = z.output<typeof site>;
