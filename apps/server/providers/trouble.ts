import type { Remedy } from '#core/remedy.ts';
/** A failed call to a provider, or a record that HubSpot refuses. A declined card is none. Contains no personal data. */
export interface ProviderTrouble {
  provider: 'Stripe' | 'HubSpot' | 'Mail';
  /** The call's method and path, in which ids are replaced and the query is left out. */
  call: string;
  /** HTTP status; null if no answer came. */
  status: number | null;
  /** The provider's error code, type or category; null if its answer has none. */
  code: string | null;
  /** The parameter or property that the provider's error names; null if it names none. */
  param: string | null;
  /** The provider's id of the call, for its support: Stripe's request id or HubSpot's correlation id. Null if there was none. */
  requestId: string | null;
  /**
   * The notice for staff: what is wrong and what to do. The same cause always has the same text. Null if the trouble ends without
   * action by staff.
   */
  notice: string | null;
  /** Which command or page of ours helps, in addition to what `notice` says. */
  remedy?: Remedy;
}

export type ReportTrouble = (trouble: ProviderTrouble) => Promise<void>;

/** Reports nothing. For the doctor, which shows every failure itself. */
export const reportNothing: ReportTrouble = async () => {};
