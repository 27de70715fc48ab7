import { z } from 'zod';
import type { ProviderTrouble } from '../../providers/trouble.ts';
import { CrmDenied, CrmRefused, CrmUnavailable } from './errors.ts';

const text = z.string().optional().catch(undefined);
/**
 * An error as HubSpot describes it, about a call or about one record of a batch
 * (https://developers.hubspot.com/docs/api-reference/error-handling). Every field may be missing.
 */
const errorBody = z.object({
  message: text,
  category: text,
  correlationId: text,
  /** In a 429: the name of the limit that was reached. */
  policyName: text,
  errors: z
    .array(
      z.object({
        message: text,
        code: text,
        context: z.record(z.string(), z.unknown()).optional().catch(undefined),
      }),
    )
    .optional()
    .catch(undefined),
});
type ErrorBody = z.infer<typeof errorBody>;
type Detail = NonNullable<ErrorBody['errors']>[number];

/** Returns the correlation id from an error's body. HubSpot's support finds the call by this id. */
export function correlationIdOf(json: unknown): string | null {
  return errorBody.safeParse(json).data?.correlationId ?? null;
}

/** The beginning of a {@link Refusal}'s reason for a validation rule of the account. */
export const RULE = 'A rule in HubSpot wants';

/**
 * Returns what staff can do about a validation rule of the account, because HubSpot's message does not say where the rule is set
 * (https://developers.hubspot.com/changelog/crm-api-write-validation-enforcement).
 */
function ruleOf({ code, message, context }: Detail): string | null {
  const names = namesOf(context);
  if (names === null) return null;
  if (code === 'MISSING_REQUIRED_PROPERTY')
    return `${RULE} ${names} of every new contact, and the join does not have it. Make it optional (HubSpot: Settings, Objects, Contacts, Create Record).`;
  if (code !== 'MISSING_CONDITIONAL_REQUIRED_PROPERTY') return null;
  const by = /\[([^\]]+)\]/.exec(message ?? '')?.[1];
  return `${RULE} ${names}${by ? ` because of the value of ${by}` : ''}, and the join does not have it. Change the rule (HubSpot: Settings, Properties${by ? `, ${by}` : ''}, conditional logic).`;
}

function namesOf(context: Detail['context']): string | null {
  const names = context?.propertyName;
  return Array.isArray(names) && names.length > 0 ? names.join(', ') : null;
}

const invalidProperties = z.array(z.object({ name: z.string(), message: z.string() })).min(1);

/** Returns HubSpot's message as plain text. If it lists invalid properties as JSON, returns the name and the fault of each. */
function plainMessage(message: string): string {
  const json = /^Property values were not valid: (\[.*\])$/s.exec(message)?.[1];
  if (json === undefined) return message;
  try {
    const listed = invalidProperties.safeParse(JSON.parse(json)).data;
    return listed?.map(({ name, message }) => `${name}: ${message}`).join('; ') ?? message;
  } catch {
    return message;
  }
}

/** Why HubSpot refuses a record. */
export interface Refusal {
  /** For staff: the account's rules that were broken, otherwise HubSpot's message in plain text; null if there is none. */
  reason: string | null;
  /** Whether HubSpot refuses the property `email`. It lists invalid properties in `errors`, or as JSON in the message. */
  isEmail: boolean;
  trouble: ProviderTrouble;
}

/**
 * Returns why HubSpot refuses a record that was sent by `call`. `error` is HubSpot's error about the call or, with status 207,
 * about the record. The notice has no personal data, and the same text for the same cause. There is no notice if the email is
 * invalid: the join is then sent again without it, and another notice says so.
 */
export function refusalOf(call: string, error: unknown, status = 207): Refusal {
  const { data: said = {} } = errorBody.safeParse(error);
  const details = said.errors ?? [];
  const rules = [...new Set(details.flatMap((detail) => ruleOf(detail) ?? []))];
  const isEmail =
    details.some(({ code, context }) => code === 'INVALID_EMAIL' && namesOf(context) === 'email') ||
    /"error":"INVALID_EMAIL","name":"email"/.test(said.message ?? '');
  const trouble = troubleOf(call, status, said);
  const why = rules[0]
    ? `HubSpot refuses joins. ${rules[0]}`
    : `HubSpot refuses what joins say (${causeOf(status === 207 ? null : status, trouble)}).`;
  return {
    reason:
      rules.length > 0 ? rules.join(' ') : said.message === undefined ? null : plainMessage(said.message),
    isEmail,
    trouble: {
      ...trouble,
      notice: isEmail ? null : why,
      remedy: { do: 'look at what HubSpot refuses' },
    },
  };
}

/** Returns the trouble of an error: the code and property of its first detail with a code, otherwise its limit or category. */
function troubleOf(call: string, status: number, said: ErrorBody, requestId: string | null = null) {
  const first = said.errors?.find(({ code }) => code !== undefined);
  const code = first?.code ?? said.policyName ?? said.category ?? null;
  const param = namesOf(first?.context);
  return {
    provider: 'HubSpot',
    call,
    status,
    code,
    param,
    requestId,
    notice: null,
  } satisfies ProviderTrouble;
}

function causeOf(status: number | null, { code, param }: Pick<ProviderTrouble, 'code' | 'param'>): string {
  return [status, code, param].filter((part) => part !== null).join(' ');
}

/** A classified error answer. A 404 about a single record is not an error, and is not classified. */
export interface Failure {
  error: CrmRefused | CrmUnavailable;
  /**
   * How the budget counts the call. After `limited`, no call of its kind may be made for a while; after `all limited`, none at
   * all.
   */
  counts: 'answered' | 'failed' | 'limited' | 'all limited';
  trouble: ProviderTrouble;
}

/** Statuses with which HubSpot refuses what was sent. */
const REFUSALS = [400, 409, 413, 414, 415, 422];
const LONGEST_MS = 86_400_000;

/** What follows from an error: how the budget counts the call, and the pause (ms) if the answer has no Retry-After header. */
interface Rule {
  counts: Failure['counts'];
  ms: number;
  /** Whether somebody must repair something first. A Retry-After header is then ignored. */
  isDenied?: boolean;
}
/** The rules by status, or by status and name of the limit (`policyName`). */
const RULES: Record<string, Rule> = {
  401: { counts: 'failed', ms: 30_000, isDenied: true },
  403: { counts: 'answered', ms: 60_000, isDenied: true },
  408: { counts: 'failed', ms: 5_000 },
  // HubSpot's lock lasts two seconds, even if the header says less.
  423: { counts: 'limited', ms: 2_000 },
  429: { counts: 'limited', ms: 1_000 },
  '429 TEN_SECONDLY_ROLLING': { counts: 'limited', ms: 10_000 },
  // The daily limit is reset at midnight in the account's time zone, which we do not know. So calls are retried every 15 minutes.
  '429 DAILY': { counts: 'all limited', ms: 900_000 },
  // HubSpot is moving the account to another data centre, which may take a day.
  477: { counts: 'all limited', ms: 600_000 },
};
/** Any other status: HubSpot is down, or does not know the call. */
const DOWN: Rule = { counts: 'failed', ms: 0 };
const UNKNOWN: Rule = { counts: 'answered', ms: 60_000, isDenied: true };

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
  const said = read.data ?? {};
  const trouble = troubleOf(call, status, said, requestId);
  const cause = causeOf(status, trouble);
  if (status < 400 || (!read.success && [...REFUSALS, 403].includes(status))) {
    const notice = `What answers ${call} with ${status} is not HubSpot. Look at what is between this server and api.hubapi.com (a proxy, a firewall, DNS), and at https://status.hubspot.com. What is due is sent by itself afterwards.`;
    // The sent data may be the cause: a firewall, for example, may have blocked them.
    const error = new CrmUnavailable(`what answered (${status}) is not HubSpot`, 0, true);
    return { counts: 'failed', error, trouble: { ...trouble, code: 'unreadable_answer', notice } };
  }
  const { policyName } = said;
  const answered = `HubSpot answered ${status}${policyName ? ` (${policyName})` : ''}`;
  const message = said.message ?? `${answered}.`;
  if (REFUSALS.includes(status)) {
    const { reason, isEmail, trouble: ofWrite } = refusalOf(call, said, status);
    const isWrite = call.includes('/batch/') && !call.endsWith('/read');
    const ofCall = `HubSpot refuses ${call} (${cause}). Compare the fields in society.yaml with the properties in HubSpot.`;
    const error = new CrmRefused(status, reason ?? message, isEmail);
    return {
      counts: 'answered',
      error,
      trouble: isWrite
        ? { ...trouble, notice: ofWrite.notice, remedy: { do: 'look at what HubSpot refuses' } }
        : { ...trouble, notice: ofCall, remedy: { do: 'doctor' } },
    };
  }
  const rule = RULES[`${status} ${policyName}`] ?? RULES[status] ?? (status >= 500 ? DOWN : UNKNOWN);
  const ms = Math.max(toldMs(retryAfter) ?? rule.ms, status === 423 ? rule.ms : 0);
  const error = rule.isDenied
    ? new CrmDenied(status, message, rule.ms)
    : new CrmUnavailable(answered, ms, status >= 500);
  const notice = rule.isDenied || rule.counts === 'all limited' ? noticeOf(call, status, cause, said) : null;
  const remedy = rule === UNKNOWN && { remedy: { do: 'doctor' } as const };
  return { counts: rule.counts, error, trouble: { ...trouble, notice, ...remedy } };
}

/** Returns the notice to staff about an answer that they must know of. */
function noticeOf(call: string, status: number, cause: string, said: ErrorBody): string {
  if (status === 401)
    return `HubSpot refuses HUBSPOT_ACCESS_TOKEN (${cause}). Copy the key again (${KEYS_PAGE}), set it and start the server anew; what is due is sent by itself then.`;
  if (status === 403)
    return `HubSpot does not let the key make ${call} (${cause})${scopesOf(said)}. Add the scope: ${KEYS_PAGE}; what waits is sent by itself then.`;
  if (status === 429)
    return 'HubSpot takes no more calls today: the daily limit of the account is used up (429 DAILY). It ends at midnight in the time zone of the account; what is due is sent by itself then. Find what else uses it, or raise it: HubSpot: Development, Monitoring, API call usage.';
  if (status === 477)
    return 'HubSpot is moving the account between its data centres (477) and takes no calls, for up to a day. What is due is sent by itself afterwards.';
  return `HubSpot does not know ${call} (${cause}). Check HUBSPOT_API_VERSION.`;
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
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds * 1_000, LONGEST_MS) : null;
}
