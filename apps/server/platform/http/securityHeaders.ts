import helmet from 'helmet';
import type { Config } from '../config/config.ts';
import type { Page } from './page.ts';

/** Where browsers send what they blocked: named in the pages' headers, and nowhere else. */
export const REPORTS_PATH = '/api/browser-reports';

const everywhere = ({ hstsSubdomains }: Config) => ({
  referrerPolicy: { policy: 'no-referrer' } as const,
  // The society's other subdomains are not ours to decide for.
  strictTransportSecurity: { includeSubDomains: hstsSubdomains },
});

/** Sets the headers of a page, as a middleware. */
export function securePages(config: Config, page: Page | null) {
  return helmet({
    ...everywhere(config),
    contentSecurityPolicy: { useDefaults: false, directives: pagePolicy(config, page) },
    // The card form's frames open windows, for wallets: with `same-origin` the browser gives them none.
    crossOriginOpenerPolicy: { policy: 'same-origin-allow-popups' },
  });
}

/** The same for calls. JSON is no document: headers about windows, frames and plug-ins are covered by its policy. */
export function secureCalls(config: Config) {
  return helmet({
    ...everywhere(config),
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
    },
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xFrameOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  });
}

/** Headers that helmet does not set. */
export function otherHeadersOfPages(config: Config): Record<string, string> {
  return {
    'permissions-policy': permissionsPolicy(config),
    'reporting-endpoints': `${REPORTS}="${config.apiUrl}${REPORTS_PATH}"`,
  };
}

/** Denies every feature that no page needs, frames included. Wallets in Stripe's frames need `payment`. */
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

/** The name of the reporting endpoint. */
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

/** The stand-in's one origin stands for all of Stripe's. */
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
    // For browsers without `report-to`; others ignore it.
    'report-uri': [config.apiUrl + REPORTS_PATH],
  };
}
