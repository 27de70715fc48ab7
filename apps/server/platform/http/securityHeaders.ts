import helmet from 'helmet';
import { REPORTS_PATH } from '#contract/calls.ts';
import type { Config } from '../config/config.ts';
import type { Page } from './page.ts';

/**
 * Returns a middleware that sets the security headers of pages. `pictures`: the origins of other sites from which pages may load
 * pictures.
 */
export function securePages(config: Config, page: Page | null, pictures: readonly string[]) {
  return helmet({
    referrerPolicy: { policy: 'no-referrer' },
    // `includeSubDomains` is off by default, since subdomains of our host may not support https.
    strictTransportSecurity: { includeSubDomains: config.hstsSubdomains },
    contentSecurityPolicy: { useDefaults: false, directives: pagePolicy(config, page, pictures) },
    // Stripe's card form opens popup windows for wallets. `same-origin` would cut the reference between popup and page.
    crossOriginOpenerPolicy: { policy: 'same-origin-allow-popups' },
  });
}

/**
 * Returns the headers of API calls. Headers about windows, frames and plug-ins concern documents only, so they are left out. If a
 * browser shows an answer as a document nevertheless, the content security policy allows it to load nothing and to be in no frame.
 */
export function headersOfCalls({ hstsSubdomains }: Config): Record<string, string> {
  return {
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none';frame-ancestors 'none'",
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'strict-transport-security': `max-age=31536000${hstsSubdomains ? '; includeSubDomains' : ''}`,
    'x-content-type-options': 'nosniff',
  };
}

/** Headers that helmet does not set. */
export function otherHeadersOfPages(config: Config): Record<string, string> {
  return {
    'permissions-policy': permissionsPolicy(config),
    'reporting-endpoints': `${REPORTS}="${config.apiUrl}${REPORTS_PATH}"`,
  };
}

/**
 * Returns a policy that denies these browser features to our pages and their frames, since no page needs them. Allows `payment` to
 * our pages and the card form's frames, for wallets.
 */
function permissionsPolicy({ providers }: Config): string {
  const refused = [
    'accelerometer',
    'camera',
    'display-capture',
    'geolocation',
    'gyroscope',
    'microphone',
    'midi',
    'usb',
  ];
  const payment = ['self', ...cardForm(providers).frames.map((origin) => `"${origin}"`)].join(' ');
  return [...refused.map((feature) => `${feature}=()`), `payment=(${payment})`].join(', ');
}

/** The name of the reporting endpoint in the headers. */
const REPORTS = 'reports';

/** The origins of the card form's resources, for the content security policy. */
interface CardForm {
  scripts: string[];
  frames: string[];
  calls: string[];
  pictures: string[];
}

/**
 * The origins that Stripe documents (https://docs.stripe.com/security/guide#content-security-policy), except maps.googleapis.com,
 * from which anybody can serve scripts. Address autocompletion, if any, runs in Stripe's own frame.
 */
const STRIPE: CardForm = {
  scripts: ['https://js.stripe.com', 'https://*.js.stripe.com'],
  frames: ['https://js.stripe.com', 'https://*.js.stripe.com', 'https://hooks.stripe.com'],
  calls: ['https://api.stripe.com', 'https://js.stripe.com'],
  pictures: ['https://*.stripe.com'],
};

/** Returns the card form's origins: Stripe's, or the one origin of the stand-in. */
function cardForm({ stripe }: Config['providers']): CardForm {
  if (stripe.browserUrl === null) return STRIPE;
  const { origin } = new URL(stripe.browserUrl);
  return { scripts: [origin], frames: [origin], calls: [origin], pictures: [origin] };
}

/**
 * Returns the content security policy of pages. It allows our origin, the card form's origins, the page's own inlined style
 * sheet and nothing else inline, and pictures of the origins `others`.
 */
function pagePolicy(config: Config, page: Page | null, others: readonly string[]): Record<string, string[]> {
  const { scripts, frames, calls, pictures } = cardForm(config.providers);
  return {
    'default-src': ["'self'"],
    'base-uri': ["'none'"],
    'object-src': ["'none'"],
    'frame-ancestors': ["'none'"],
    'form-action': ["'self'"],
    'img-src': ["'self'", 'data:', ...(config.apiUrl ? [config.apiUrl] : []), ...pictures, ...others],
    'style-src': ["'self'", ...(page ? [page.styleHash] : [])],
    'script-src': ["'self'", ...scripts],
    'frame-src': frames,
    'connect-src': ["'self'", ...(config.apiUrl ? [config.apiUrl] : []), ...calls],
    'report-to': [REPORTS],
    // Browsers that do not support `report-to` use `report-uri`; all others ignore it.
    'report-uri': [config.apiUrl + REPORTS_PATH],
  };
}
