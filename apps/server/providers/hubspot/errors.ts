/** HubSpot does not accept the call now: a limit is reached, or it is down or too slow. Retry after `retryAfterMs`. */
export class CrmUnavailable extends Error {
  readonly retryAfterMs: number;
  /** Whether the data that was sent may be the cause of the failure. */
  readonly perhapsRecord: boolean;
  constructor(message: string, retryAfterMs = 0, perhapsRecord = false) {
    super(message);
    this.retryAfterMs = retryAfterMs;
    this.perhapsRecord = perhapsRecord;
  }
}

/** The key is not allowed to make this call (401, 403), or HubSpot does not know its address. Lasts until somebody repairs it. */
export class CrmDenied extends CrmUnavailable {
  readonly status: number;
  constructor(status: number, message: string, retryAfterMs: number) {
    super(message, retryAfterMs);
    this.status = status;
  }
}

/** HubSpot refuses this record with its present values. The message is for staff. */
export class CrmRefused extends Error {
  readonly status: number;
  /** Whether HubSpot refuses the record because of its email. */
  readonly isEmail: boolean;
  constructor(status: number, message: string, isEmail = false) {
    super(message);
    this.status = status;
    this.isEmail = isEmail;
  }
}
