import type { CallFailure } from '../providers/stripe/failures.ts';
import type { ReportTrouble } from '../providers/trouble.ts';

/**
 * Returns a function that logs each failed call to Stripe, and writes a notice if the failure will last until somebody repairs its
 * cause.
 */
export function stripeFailures(report: ReportTrouble): (failure: CallFailure) => Promise<void> {
  return (failure) => {
    const { call, status, code, param, requestId, kind } = failure;
    const notice = kind === 'outage' ? null : `${causeOf(failure)} ${remedyOf(failure)}`;
    return report({
      provider: 'Stripe',
      call,
      status,
      code,
      param,
      requestId,
      notice,
      ...((status === 401 || status === 403) && { remedy: { do: 'doctor' } }),
    });
  };
}

function causeOf({ call, status, code, param, kind }: CallFailure): string {
  if (kind === 'unreadable') return `What answers ${call} with ${status} is not Stripe.`;
  const what = [code, param && `parameter ${param}`].filter(Boolean).join(', ');
  return `Stripe refuses ${call} with ${status}${what && ` (${what})`}.`;
}

/**
 * Returns what staff can do about a failed call. `said` is Stripe's message, which may say which permission a restricted key
 * lacks.
 */
function remedyOf({ status, said, kind }: CallFailure): string {
  if (kind === 'unreadable')
    return 'Look at what is between this server and api.stripe.com (a proxy, a firewall, DNS), and at https://status.stripe.com. Nobody can pay until it is put right.';
  switch (status) {
    case 401:
      return `${said} Until STRIPE_SECRET_KEY is one that Stripe takes, nobody can pay.`;
    case 403:
      return `${said} Give the key that permission at Stripe.`;
    default:
      return "What needs this call fails until it is put right. The server's log has the request's id, by which Stripe's log finds it: https://dashboard.stripe.com/logs";
  }
}
