/** A call that a provider did not do, for a reason that is not the joiner's, the card's or one record's. Nothing in it is of a person. */
export interface ProviderTrouble {
  provider: 'Stripe' | 'HubSpot' | 'Mail';
  /** Method and address, without ids and query. */
  call: string;
  /** HTTP status; null when no answer came. */
  status: number | null;
  /** The provider's own word for the cause, as MISSING_SCOPES. */
  code: string | null;
  /** The parameter or property that it names. */
  param: string | null;
  /** What the provider finds the call by: Stripe's request id, HubSpot's correlation id. */
  requestId: string | null;
  /** For staff: what is wrong and what to do, the same text for the same cause. Null when it ends by itself. */
  notice: string | null;
}

export type TellTrouble = (trouble: ProviderTrouble) => Promise<void>;

/** For the doctor, who tells what it meets itself. */
export const tellNobody: TellTrouble = async () => {};
