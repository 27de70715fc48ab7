/** A failure in the form in which Stripe.js returns it. */
export interface StripeJsError {
  type: string;
  message: string;
  code?: string;
  decline_code?: string;
  param?: string;
  payment_intent?: PublicIntent;
}

/** The fields of a payment intent that a browser sees and this script reads. */
export interface PublicIntent {
  id: string;
  client_secret: string;
  status: string;
  amount: number;
  currency: string;
  next_action: { type: string; redirect_to_url?: { url: string } } | null;
  last_payment_error: StripeJsError | null;
}

export type Result<Name extends string, Value> =
  | ({ [K in Name]: Value } & { error?: undefined })
  | ({ [K in Name]?: undefined } & { error: StripeJsError });

/** The emulator's URL, which is the folder of this script's URL. */
export const BASE = new URL('.', (document.currentScript as HTMLScriptElement).src).href;

/** Calls the API with the publishable key. Requests are forms, so that the browser makes no cross-origin preflight. */
export async function callApi<Value>(
  key: string,
  method: 'GET' | 'POST',
  path: string,
  params: Record<string, unknown>,
): Promise<Result<'value', Value>> {
  const form = formOf({ ...params, key });
  const url = `${BASE}v1/${path}`;
  const request = method === 'GET' ? fetch(`${url}?${form}`) : fetch(url, { method, body: form });
  return answerOf<Value>(request);
}

export async function answerOf<Value>(request: Promise<Response>): Promise<Result<'value', Value>> {
  try {
    const response = await request;
    const body = await response.json();
    return response.ok ? { value: body as Value } : { error: body.error as StripeJsError };
  } catch {
    return {
      error: {
        type: 'api_connection_error',
        message: 'We could not reach the payment provider. Please check your connection and try again.',
      },
    };
  }
}

/** Encodes `{a: {b: 1}}` as `a[b]=1`, the encoding of the v1 API. Absent and empty values are left out. */
function formOf(params: Record<string, unknown>): URLSearchParams {
  const form = new URLSearchParams();
  const add = (name: string, value: unknown): void => {
    if (value === undefined || value === null || value === '') return;
    if (typeof value !== 'object') form.append(name, String(value));
    else for (const [key, inner] of Object.entries(value)) add(`${name}[${key}]`, inner);
  };
  for (const [name, value] of Object.entries(params)) add(name, value);
  return form;
}

/** Returns the id at the start of a client secret such as `pi_1_secret_2`. */
export function intentIdOf(clientSecret: string): string {
  return clientSecret.split('_secret_', 1)[0]!;
}
