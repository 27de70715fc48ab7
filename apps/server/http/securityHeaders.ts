import helmet, { type HelmetOptions } from 'helmet';
import type { Config } from '../config.ts';
import { REPORTS_PATH } from '../reports/reports.ts';
import type { Page } from './page.ts';

/** Header name → value, the same for every answer of its kind: reckoned once, since helmet would do it for each. */
export interface SecurityHeaders {
  page: Record<string, string>;
  api: Record<string, string>;
}

export function securityHeaders(config: Config, page: Page | null): SecurityHeaders {
  const both = {
    referrerPolicy: { policy: 'no-referrer' },
    // The society's other subdomains are not ours to decide for.
    strictTransportSecurity: { includeSubDomains: config.hstsSubdomains },
  } as const satisfies HelmetOptions;
  return {
    page: {
      ...headersOf({
        contentSecurityPolicy: { useDefaults: false, directives: pagePolicy(config, page) },
        // The card form's frames open windows, for wallets: with `same-origin` the browser gives them none.
        crossOriginOpenerPolicy: { policy: 'same-origin-allow-popups' },
        ...both,
      }),
      'permissions-policy': permissionsPolicy(config),
      'reporting-endpoints': `${REPORTS}="${config.apiUrl}${REPORTS_PATH}"`,
    },
    // JSON is no document: what is about windows, frames and plug-ins is said by its policy.
    api: headersOf({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
      },
      ...both,
      crossOriginOpenerPolicy: false,
      originAgentCluster: false,
      xDnsPrefetchControl: false,
      xDownloadOptions: false,
      xFrameOptions: false,
      xPermittedCrossDomainPolicies: false,
      xXssProtection: false,
    }),
  };
}

function headersOf(options: HelmetOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  const response = {
    setHeader: (name: string, value: string) => {
      headers[name.toLowerCase()] = value;
    },
    removeHeader: () => {},
  };
  helmet(options)({} as never, response as never, (error?: unknown) => {
    if (error) throw error;
  });
  return headers;
}

/** What no page of a join needs is not to be had, by no frame either; wallets in Stripe's frames ask for payment. */
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

/** What browsers call the endpoint that takes their reports. */
const REPORTS = 'reports';

/** The origins of the card form: its script, what it frames, whom it calls, its pictures. */
interface CardForm {
  scripts: string[];
  frames: string[];
  calls: string[];
  pictures: string[];
}

/**
 * As Stripe documents them (https://docs.stripe.com/security/guide#content-security-policy). Without maps.googleapis.com, which
 * serves anybody's scripts: addresses are suggested in Stripe's own frame, if at all.
 */
const STRIPE: CardForm = {
  scripts: ['https://js.stripe.com', 'https://*.js.stripe.com'],
  frames: ['https://js.stripe.com', 'https://*.js.stripe.com', 'https://hooks.stripe.com'],
  calls: ['https://api.stripe.com', 'https://js.stripe.com'],
  pictures: ['https://*.stripe.com'],
};

/** With the stand-in its one origin has every place that Stripe's have, and no other. */
function cardForm({ stripe }: Config['providers']): CardForm {
  if (stripe.browserUrl === null) return STRIPE;
  const { origin } = new URL(stripe.browserUrl);
  return { scripts: [origin], frames: [origin], calls: [origin], pictures: [origin] };
}

/** Nothing inline but the page's own style sheet, nothing from anywhere but here and the card form's origins. */
function pagePolicy(config: Config, page: Page | null): Record<string, string[]> {
  const { scripts, frames, calls, pictures } = cardForm(config.providers);
  return {
    'default-src': ["'self'"],
    'base-uri': ["'none'"],
    'object-src': ["'none'"],
    'frame-ancestors': ["'none'"],
    'form-action': ["'self'"],
    'img-src': ["'self'", 'data:', ...pictures],
    'style-src': ["'self'", ...(page ? [page.styleHash] : [])],
    'script-src': ["'self'", ...scripts],
    'frame-src': frames,
    'connect-src': ["'self'", ...(config.apiUrl ? [config.apiUrl] : []), ...calls],
    'report-to': [REPORTS],
    // For browsers that do not know `report-to`; the others leave it aside.
    'report-uri': [config.apiUrl + REPORTS_PATH],
  };
}
