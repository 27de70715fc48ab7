import { linkQuery } from './linkQuery.ts';

/** The paths of the screens in the specification, section 2. */
export const screens = {
  getStarted: '/registration/get-started',
  studentDetails: '/registration/student-details',
  membership: '/registration/membership',
  checkout: '/registration/checkout',
  postPayment: '/registration/post-payment',
  upgrade: '/registration/upgrade',
  uploadTranscript: '/registration/upload-transcript',
  congratulations: '/registration/congratulations',
  initiateUpgrade: '/registration/initiate/upgrade',
  initializeCheckout: '/initialize/checkout',
  /**
   * The screen that opens a join by the link in a letter, or lets the user request such a link. This screen is not in the
   * specification.
   */
  pass: '/pass',
} as const;

/** The paths of {@link screens} and of the screens with path parameters, as patterns of the router. */
export const screenPaths = {
  ...screens,
  init: '/registration/:hubspotContactId/init',
  uploadResume: '/upload-resume/:contactId?',
  uploadByLink: '/upload/:token',
  verify: '/verify/:number?',
  stopReminders: '/unsubscribe/:token',
  pay: '/pay/:token',
  check: '/check',
} as const;
export type ScreenName = keyof typeof screenPaths;

/** The document title of each screen. The server puts it into the HTML, and the page's scripts set it later. */
export const screenTitles: Record<ScreenName, string> = {
  getStarted: 'Get Started',
  init: 'Your invitation',
  studentDetails: 'Student Details',
  membership: 'Membership',
  checkout: 'Checkout',
  postPayment: 'Payment',
  upgrade: 'Upgrade Membership',
  initiateUpgrade: 'Upgrade Membership',
  uploadTranscript: 'Upload Transcript',
  congratulations: 'Congratulations',
  initializeCheckout: 'Checkout',
  uploadResume: 'Upload Your Resume',
  uploadByLink: 'Upload Transcript',
  pass: 'Your registration',
  verify: 'Verify a Membership',
  stopReminders: 'Reminders',
  pay: 'Pay for a Membership',
  check: 'Is this real?',
};
export const NOT_FOUND_TITLE = 'Page not found';

const patterns = (Object.entries(screenPaths) as [ScreenName, string][]).map(([name, path]) => ({
  name,
  pattern: new RegExp(`^${path.replace(/\/:\w+\?/, '(/[^/]+)?').replace(/:\w+/, '[^/]+')}/*$`, 'i'),
}));

/** Returns the screen at a path; null if there is none. Like the router, it ignores case and trailing slashes. */
export function screenAt(path: string): ScreenName | null {
  if (path === '/') return 'getStarted';
  return patterns.find(({ pattern }) => pattern.test(path))?.name ?? null;
}

/** The screens that only start or find a join, each with the screen to which it leads. */
export const leadsTo: Partial<Record<ScreenName, ScreenName>> = {
  init: 'studentDetails',
  initiateUpgrade: 'upgrade',
  initializeCheckout: 'checkout',
};

/**
 * Screens to which the link in a letter may lead. If the join has not reached the link's screen, the link opens the screen where
 * the join continues.
 */
const linkedScreens = ['checkout', 'uploadTranscript', 'congratulations'] as const;
export type LinkedScreen = (typeof linkedScreens)[number];

/** Returns the path of the link in a letter. The caller appends a `#` and the token. */
export const passPath = (screen?: LinkedScreen) => screens.pass + (screen ? `?to=${screen}` : '');

/** Returns the path of the screen in the query of a letter's link; null if the query has none of {@link linkedScreens}. */
export function linkedScreen(search: string): string | null {
  const named = linkQuery(search).get('to');
  const screen = linkedScreens.find((name) => name === named);
  return screen ? screens[screen] : null;
}

/**
 * Returns the path of the page on which a phone uploads a document for a join on another device. The token gives no other access
 * to the join.
 */
export const uploadLinkPath = (token: string) => `/upload/${token}`;

/** The path of the page where anybody can check whether a code or a link is the society's. */
export const CHECK_PATH = screenPaths.check;

/** Returns the path of the page on which somebody else pays for a join. */
export const payPath = (token: string) => `/pay/${token}`;

/** Returns the path of the page where reminders to an email can be stopped or allowed again. */
export const stopRemindersPath = (token: string) => `/unsubscribe/${encodeURIComponent(token)}`;

export type Visit = { allowed: true } | { allowed: false; redirectTo: string };

/**
 * The route guard (specification, section 2) as a table. The first row whose pattern matches the path applies. Paths that start or
 * find a session, such as `/initialize/checkout` or the link in a letter, need no stored session.
 */
const guard: readonly { paths: RegExp; needsSession: boolean }[] = [
  { paths: /^\/upload-resume\//, needsSession: false },
  { paths: /^\/upload\/[^/]+\/?$/, needsSession: false },
  { paths: /^\/pay\/[^/]+\/?$/i, needsSession: false },
  { paths: /^\/check\/?$/i, needsSession: false },
  { paths: /^\/pass\/?$/, needsSession: false },
  { paths: /^\/unsubscribe\/[^/]+\/?$/i, needsSession: false },
  { paths: /^\/verify(\/[^/]+)?\/?$/i, needsSession: false },
  { paths: /^\/registration\/initiate\/upgrade\/?$/, needsSession: false },
  { paths: /^\/registration\/[^/]+\/init\/?$/, needsSession: false },
  { paths: /^\/$/, needsSession: false },
  { paths: /^\/registration\/get-started\/?$/, needsSession: false },
  { paths: /^\/initialize\/checkout\/?$/, needsSession: false },
  { paths: /^/, needsSession: true },
];

/** Returns whether a path may be shown; if not, where to redirect. `hasSession`: this browser has stored a session id. */
export function visit(path: string, hasSession: boolean): Visit {
  const row = guard.find(({ paths }) => paths.test(path));
  return row && (!row.needsSession || hasSession) ? { allowed: true } : { allowed: false, redirectTo: '/' };
}

/** Returns the part of a query that Get Started needs. The rest is dropped, because it may contain secrets. */
export function queryForGetStarted(search: string): string {
  const programme = linkQuery(search).get('programme');
  return programme === null ? '' : `?${new URLSearchParams({ programme })}`;
}

/** The three steps of the progress bar. Checkout is never a link (specification, section 2). */
export const progressSteps = [
  { name: 'Student Details', path: screens.studentDetails, isLink: true },
  { name: 'Membership', path: screens.membership, isLink: true },
  { name: 'Checkout', path: screens.checkout, isLink: false },
] as const;
