import { z } from 'zod';
import type { Remedy } from '#core/remedy.ts';
import type { ProviderTrouble } from '../../providers/trouble.ts';
import { errorDetail } from './answers.ts';
import { CrmDenied, CrmRefused, CrmUnavailable } from './errors.ts';

/**
 * The body of HubSpot's error answers (https://developers.hubspot.com/docs/api-reference/error-handling). Every field may be
 * missing.
 */
const errorBody = z.object({
  message: z.string().optional().catch(undefined),
  category: z.string().optional().catch(undefined),
  correlationId: z.string().optional().catch(undefined),
  /** In a 429: the name of the limit that was reached. */
  policyName: z.string().optional().catch(undefined),
  errors: z.array(errorDetail).optional().catch(undefined),
});
/** Returns the correlation id from an error's body. HubSpot's support finds the call by this id. */
export function correlationIdOf(json: unknown): string | null {
  return errorBody.safeParse(json).data?.correlationId ?? null;
}

type ErrorBody = Partial<z.infer<typeof errorBody>>;
type ErrorDetail = z.infer<typeof errorDetail>;

/**
 * Returns a text for staff that says why HubSpot refuses a record. If a validation rule of the account is the reason, the text is
 * our own, because HubSpot's message does not say where the rule is set
 * (https://developers.hubspot.com/changelog/crm-api-write-validation-enforcement). Otherwise the text is HubSpot's message, or
 * null.
 */
export function reasonOf({ message, errors }: Pick<ErrorBody, 'message' | 'errors'>): string | null {
  const rules = errors?.flatMap((detail) => ruleOf(detail) ?? []) ?? [];
  return rules.length > 0 ? [...new Set(rules)].join(' ') : (message ?? null);
}

/** The beginning of {@link reasonOf} for a validation rule of the account. */
export const RULE = 'A rule in HubSpot wants';

function ruleOf({ code, message, context }: ErrorDetail): string | null {
  const names = namesOf(context);
  if (names === null) return null;
  if (code === 'MISSING_REQUIRED_PROPERTY')
    return `${RULE} ${names} of every new contact, and the join does not have it. Make it optional (HubSpot: Settings, Objects, Contacts, Create Record).`;
  if (code !== 'MISSING_CONDITIONAL_REQUIRED_PROPERTY') return null;
  const by = /\[([^\]]+)\]/.exec(message ?? '')?.[1];
  return `${RULE} ${names}${by ? ` because of the value of ${by}` : ''}, and the join does not have it. Change the rule (HubSpot: Settings, Properties${by ? `, ${by}` : ''}, conditional logic).`;
}

function namesOf(context: Record<string, unknown> | undefined): string | null {
  const names = context?.propertyName;
  return Array.isArray(names) && names.length > 0 ? names.join(', ') : null;
}

/**
 * Whether HubSpot refuses a record because of its property `email`. HubSpot lists the invalid properties in `errors`, or as JSON in
 * the message.
 */
export function isInvalidEmail({
  message = '',
  errors = [],
}: Pick<ErrorBody, 'message' | 'errors'>): boolean {
  return (
    errors.some(({ code, context }) => code === 'INVALID_EMAIL' && namesOf(context) === 'email') ||
    /"error":"INVALID_EMAIL","name":"email"/.test(message)
  );
}

/**
 * Returns the notice to staff about refused records, without personal data; the same cause gives the same text. Returns null if the
 * email is invalid: the join is then sent again without its email, and another notice says so.
 */
function refusalNotice(cause: string, error: Pick<ErrorBody, 'message' | 'errors'>): string | null {
  if (isInvalidEmail(error)) return null;
  const rules = error.errors?.flatMap((detail) => ruleOf(detail) ?? []) ?? [];
  const why =
    rules.length > 0 ? `HubSpot refuses joins. ${rules[0]}` : `HubSpot refuses what joins say (${cause}).`;
  return why;
}

const SHOW_REFUSED: Remedy = { do: 'look at what HubSpot refuses' };

/** Returns the trouble for one record that HubSpot refused in a batch whose other records it accepted. */
export function refusedRecord(
  call: string,
  error: Pick<ErrorBody, 'category' | 'message' | 'errors'>,
): ProviderTrouble {
  const { code, param } = causeOf(error);
  const cause = [code, param].filter((part) => part !== null).join(' ');
  return {
    provider: 'HubSpot',
    call,
    status: 207,
    code,
    param,
    requestId: null,
    notice: refusalNotice(cause, error),
    remedy: SHOW_REFUSED,
  };
}

/** A classified error answer. A 404 about a single record is not an error, and is not classified. */
export interface Failure {
  error: CrmRefused | CrmUnavailable;
  /** How the budget counts the call. After `limited`, no call of its kind may be made for a while; after `all limited`, none at all. */
  counts: 'answered' | 'failed' | 'limited' | 'all limited';
  trouble: ProviderTrouble;
}

/** Statuses with which HubSpot refuses what was sent. */
const REFUSALS = [400, 409, 413, 414, 415, 422];

const SECOND_MS = 1_000;
/** The pause (ms) after each of HubSpot's limits (by `policyName`), if the answer has no Retry-After header. */
const LIMIT_MS: Record<string, number> = {
  SECONDLY: SECOND_MS,
  TEN_SECONDLY_ROLLING: 10 * SECOND_MS,
  // The daily limit is reset at midnight in the account's time zone, which we do not know. So calls are retried every 15 minutes.
  DAILY: 15 * 60 * SECOND_MS,
};
/** The shortest pause (ms) after a 423 (locked): HubSpot's lock lasts two seconds. */
const LOCKED_MS = 2 * SECOND_MS;
/** The pause (ms) while HubSpot moves the account to another data centre, which may last a day, without a Retry-After header. */
const MIGRATION_MS = 10 * 60 * SECOND_MS;
const LONGEST_MS = 24 * 3600 * SECOND_MS;
/** The pause (ms) after a call that HubSpot denies until somebody repairs something. */
const DENIED_MS = 60 * SECOND_MS;
const TIMED_OUT_MS = 5 * SECOND_MS;

export const KEYS_PAGE = 'HubSpot: Development, Keys, Service keys';

interface ErrorAnswer {
  status: number;
  /** The Retry-After header, in seconds. */
  retryAfter: string | null;
  /** From the header, otherwise from the body. */
  requestId: string | null;
  /** The parsed body; undefined if it is not JSON. */
  json: unknown;
}

/** Classifies an error answer of HubSpot. `call` is the call's name. */
export function failureOf(call: string, { status, retryAfter, requestId, json }: ErrorAnswer): Failure {
  const read = errorBody.safeParse(json);
  const body: ErrorBody = read.data ?? {};
  const { policyName } = body;
  const { code, param } = causeOf(body);
  const cause = [status, code, param].filter((part) => part !== null).join(' ');
  const answered = `HubSpot answered ${status}${policyName ? ` (${policyName})` : ''}`;
  const message = body.message ?? `${answered}.`;
  const told = toldMs(retryAfter);
  const trouble: ProviderTrouble = {
    provider: 'HubSpot',
    call,
    status,
    code,
    param,
    requestId,
    notice: null,
  };
  const failure = (
    counts: Failure['counts'],
    error: Failure['error'],
    notice: string | null = null,
    remedy?: Remedy,
  ) => ({ counts, error, trouble: { ...trouble, notice, ...(remedy && { remedy }) } });

  if (status < 400 || (!read.success && [...REFUSALS, 403].includes(status))) {
    trouble.code = 'unreadable_answer';
    return failure(
      'failed',
      // The sent data may be the cause: a firewall, for example, may have blocked them.
      new CrmUnavailable(`what answered (${status}) is not HubSpot`, 0, true),
      `What answers ${call} with ${status} is not HubSpot. Look at what is between this server and api.hubapi.com (a proxy, a firewall, DNS), and at https://status.hubspot.com. What is due is sent by itself afterwards.`,
    );
  }
  if (REFUSALS.includes(status)) {
    const error = new CrmRefused(status, reasonOf(body) ?? message, isInvalidEmail(body));
    return call.includes('/batch/') && !call.endsWith('/read')
      ? failure('answered', error, refusalNotice(cause, body), SHOW_REFUSED)
      : failure(
          'answered',
          error,
          `HubSpot refuses ${call} (${cause}). Compare the fields in society.yaml with the properties in HubSpot.`,
          { do: 'doctor' },
        );
  }
  if (status >= 500) return failure('failed', new CrmUnavailable(answered, told ?? 0, true));
  switch (status) {
    case 401:
      return failure(
        'failed',
        new CrmDenied(status, message, DENIED_MS / 2),
        `HubSpot refuses HUBSPOT_ACCESS_TOKEN (${cause}). Copy the key again (${KEYS_PAGE}), set it and start the server anew; what is due is sent by itself then.`,
      );
    case 403:
      return failure(
        'answered',
        new CrmDenied(status, message, DENIED_MS),
        `HubSpot does not let the key make ${call} (${cause})${scopesOf(body)}. Add the scope: ${KEYS_PAGE}; what waits is sent by itself then.`,
      );
    case 408:
      return failure('failed', new CrmUnavailable(answered, TIMED_OUT_MS));
    case 423:
      return failure('limited', new CrmUnavailable(answered, Math.max(told ?? 0, LOCKED_MS)));
    case 429: {
      const error = new CrmUnavailable(answered, told ?? LIMIT_MS[policyName ?? ''] ?? SECOND_MS);
      if (policyName !== 'DAILY') return failure('limited', error);
      return failure(
        'all limited',
        error,
        'HubSpot takes no more calls today: the daily limit of the account is used up (429 DAILY). It ends at midnight in the time zone of the account; what is due is sent by itself then. Find what else uses it, or raise it: HubSpot: Development, Monitoring, API call usage.',
      );
    }
    case 477:
      return failure(
        'all limited',
        new CrmUnavailable(answered, told ?? MIGRATION_MS),
        'HubSpot is moving the account between its data centres (477) and takes no calls, for up to a day. What is due is sent by itself afterwards.',
      );
    default:
      return failure(
        'answered',
        new CrmDenied(status, message, DENIED_MS),
        `HubSpot does not know ${call} (${cause}). Check HUBSPOT_API_VERSION.`,
        { do: 'doctor' },
      );
  }
}

/**
 * Returns a code for the cause: the code of the first error that has a code, otherwise the name of the limit that was reached,
 * otherwise the category. `param` is the property that this first error names.
 */
function causeOf({ category, policyName, errors }: ErrorBody): { code: string | null; param: string | null } {
  const first = errors?.find(({ code }) => code !== undefined);
  return { code: first?.code ?? policyName ?? category ?? null, param: namesOf(first?.context) };
}

function scopesOf({ errors }: ErrorBody): string {
  const scopes = errors?.flatMap(({ context }) => {
    const named = context?.requiredGranularScopes ?? context?.requiredScopes;
    return Array.isArray(named) ? named : [];
  });
  return scopes?.length ? `: it wants ${scopes.join(' or ')}` : '';
}

function toldMs(retryAfter: string | null): number | null {
  const seconds = Number(retryAfter ?? '');
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds * SECOND_MS, LONGEST_MS) : null;
}
