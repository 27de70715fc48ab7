/** HubSpot does not take the call now: limited, down, or slower than it may be. Try again, not before `retryAfterMs`. */
export class CrmUnavailable extends Error {
  readonly retryAfterMs: number;
  /** Whether what was sent may be what HubSpot fails on. */
  readonly perhapsRecord: boolean;
  constructor(message: string, retryAfterMs = 0, perhapsRecord = false) {
    super(message);
    this.retryAfterMs = retryAfterMs;
    this.perhapsRecord = perhapsRecord;
  }
}

/** The key may not make this call (401, 403), or HubSpot does not know its address: until somebody puts that right. */
export class CrmDenied extends CrmUnavailable {
  readonly status: number;
  constructor(status: number, message: string, retryAfterMs: number) {
    super(message, retryAfterMs);
    this.status = status;
  }
}

/** HubSpot will not take this record as it is. Its reason is for staff. */
export class CrmRefused extends Error {
  readonly status: number;
  /** It is the email that it does not take. */
  readonly isEmail: boolean;
  constructor(status: number, message: string, isEmail = false) {
    super(message);
    this.status = status;
    this.isEmail = isEmail;
  }
}
