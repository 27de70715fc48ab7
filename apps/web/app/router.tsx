import {
  createBrowserRouter,
  type RouteObject,
  redirect,
  type ShouldRevalidateFunctionArgs,
} from 'react-router';
import { NOT_FOUND_TITLE, screenPaths, screens, screenTitles, visit } from '#core/navigation.ts';
import { PageLoader } from '../components/PageLoader.tsx';
import { storedSession } from '../lib/session.ts';
import * as getStarted from '../screens/getStarted/route.tsx';
import { type LazyScreen, lazyScreens, notFound } from '../screens/lazyScreens.tsx';
import { Layout } from './Layout.tsx';
import { Unexpected } from './Unexpected.tsx';

/** The guard of the specification, section 2, asked on every navigation; the table itself is in core. */
function guard({ request }: { request: Request }): null | Response {
  const answer = visit(new URL(request.url).pathname, storedSession() !== null);
  return answer.allowed ? null : redirect(answer.redirectTo);
}

/** A form that stays on its screen navigates nowhere, so the guard is not asked: the screen says what is wrong. */
function isNavigation({ currentUrl, nextUrl, formMethod }: ShouldRevalidateFunctionArgs): boolean {
  return currentUrl.pathname !== nextUrl.pathname || formMethod === undefined;
}

const lazyRoute = (path: string, title: string, { load, placeholder }: LazyScreen): RouteObject => ({
  path,
  lazy: load,
  hydrateFallbackElement: placeholder ?? <PageLoader title={title} />,
});

const lazyRoutes = (Object.entries(lazyScreens) as [keyof typeof lazyScreens, LazyScreen][]).map(
  ([name, screen]) => lazyRoute(screenPaths[name], screenTitles[name], screen),
);

export const routes: RouteObject[] = [
  {
    id: 'root',
    Component: Layout,
    loader: guard,
    shouldRevalidate: isNavigation,
    children: [
      {
        // Without a path: what goes wrong in a screen keeps the header and footer around it.
        ErrorBoundary: Unexpected,
        children: [
          { path: '/', loader: () => redirect(screens.getStarted) },
          { path: screens.getStarted, Component: getStarted.Component, action: getStarted.action },
          ...lazyRoutes,
          lazyRoute('*', NOT_FOUND_TITLE, notFound),
        ],
      },
    ],
  },
];

/**
 * The guard has been asked for the first screen before anything was drawn (`firstPath`), so its answer is given here;
 * Get Started then needs nothing more and is drawn, or taken over from the server's markup, at once.
 */
export function createRouter() {
  return createBrowserRouter(routes, { hydrationData: { loaderData: { root: null } } });
}

/** Where a visit that begins at `path` is drawn: there, or where the guard sends it. */
export function firstPath(path: string): string {
  const answer = visit(path, storedSession() !== null);
  const allowed = answer.allowed ? path : answer.redirectTo;
  return allowed === '/' ? screens.getStarted : allowed;
}
