import helmet, { type HelmetOptions } from 'helmet';
import type { Config } from '../config.ts';
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
        ...both,
      }),
      'permissions-policy': permissionsPolicy(config),
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
  const payment = providers.stripe.url === null ? '(self "https://js.stripe.com")' : '(self)';
  return [...refused.map((feature) => `${feature}=()`), `payment=${payment}`].join(', ');
}

/** Nothing inline but the page's own style sheet, nothing from anywhere but here and, with real keys, Stripe. */
function pagePolicy(config: Config, page: Page | null): Record<string, string[]> {
  const stripe = config.providers.stripe.url === null;
  return {
    'default-src': ["'self'"],
    'base-uri': ["'none'"],
    'object-src': ["'none'"],
    'frame-ancestors': ["'none'"],
    'form-action': ["'self'"],
    'img-src': ["'self'", 'data:', ...(stripe ? ['https://*.stripe.com'] : [])],
    'style-src': ["'self'", ...(page ? [page.styleHash] : [])],
    'script-src': ["'self'", ...(stripe ? ['https://js.stripe.com'] : [])],
    'frame-src': stripe ? ['https://js.stripe.com', 'https://hooks.stripe.com'] : ["'self'"],
    'connect-src': [
      "'self'",
      ...(config.apiUrl ? [config.apiUrl] : []),
      ...(stripe ? ['https://api.stripe.com', 'https://js.stripe.com'] : []),
    ],
  };
}
