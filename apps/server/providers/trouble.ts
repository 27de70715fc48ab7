/**
 * A failed call to a provider, of which neither the joiner, the card nor one record is the cause. Contains nothing about a person.
 */
export interface ProviderTrouble {
  provider: 'Stripe' | 'HubSpot' | 'Mail';
  /** The call's method and path, without ids and query. */
  call: string;
  /** HTTP status; null when no answer came. */
  status: number | null;
  /** The provider's code for the cause, such as MISSING_SCOPES. */
  code: string | null;
  /** The parameter or property that the provider's error names. */
  param: string | null;
  /** The id by which the provider finds the call: Stripe's request id, HubSpot's correlation id. */
  requestId: string | null;
  /** For staff: what is wrong and what to do. The same cause always has the same text. Null if the trouble ends by itself. */
  notice: string | null;
}

export type TellTrouble = (trouble: ProviderTrouble) => Promise<void>;

/** For the doctor, which reports every trouble itself. */
export const tellNobody: TellTrouble = async () => {};
