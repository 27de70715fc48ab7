import type { Remedy } from '#core/remedy.ts';
/**
 * Thrown if HubSpot does not process a call now: a limit is reached, or HubSpot is down or too slow. Retry after `retryAfterMs`.
 */
export class CrmUnavailable extends Error {
  readonly retryAfterMs: number;
  /** Whether the failure may be the fault of the sent data, so that a retry with the same data fails again. */
  readonly perhapsRecord: boolean;
  constructor(message: string, retryAfterMs = 0, perhapsRecord = false) {
    super(message);
    this.retryAfterMs = retryAfterMs;
    this.perhapsRecord = perhapsRecord;
  }
}

/**
 * Thrown if HubSpot denies a call until somebody repairs something: the key is wrong or lacks a permission, or there is no such
 * call.
 */
export class CrmDenied extends CrmUnavailable {
  readonly status: number;
  constructor(status: number, message: string, retryAfterMs: number) {
    super(message, retryAfterMs);
    this.status = status;
  }
}

/** Thrown if the token is of another HubSpot account than the contacts in our database. */
export class OtherAccount extends CrmDenied {
  readonly remedy: Remedy;
  constructor(kept: string, present: string) {
    super(
      403,
      `HUBSPOT_ACCESS_TOKEN is of the HubSpot account ${present}, and the contacts in this database are of account ${kept}. Nothing is done with contacts that are missing there, and none is created. Set the token of account ${kept}, and restart the servers.`,
      600_000,
    );
    this.remedy = { do: 'move to HubSpot account', account: present };
  }
}

/** Thrown if HubSpot refuses a record because of its values. The message is for staff. */
export class CrmRefused extends Error {
  readonly status: number;
  /** Whether the refused value is the email. */
  readonly isEmail: boolean;
  constructor(status: number, message: string, isEmail = false) {
    super(message);
    this.status = status;
    this.isEmail = isEmail;
  }
}
