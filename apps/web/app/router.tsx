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

/** The route guard (specification, section 2), which runs at every navigation. */
function guard({ request }: { request: Request }): null | Response {
  const answer = visit(new URL(request.url).pathname, storedSession() !== null);
  return answer.allowed ? null : redirect(answer.redirectTo);
}

/**
 * Whether the guard must run again. It need not after a submission that stays on the same screen, since the screen's action
 * itself reports a missing session.
 */
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

const routes: RouteObject[] = [
  {
    id: 'root',
    Component: Layout,
    loader: guard,
    shouldRevalidate: isNavigation,
    children: [
      {
        // This route has no path. It places the error boundary inside the layout, so that header and footer stay visible when a
        // screen fails.
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
 * Creates the router. The guard's result for the first screen is passed in as `null` (allowed), since `firstPath` has already
 * applied the guard. Get Started therefore has nothing to load, and can be hydrated immediately.
 */
export function createRouter() {
  return createBrowserRouter(routes, { hydrationData: { loaderData: { root: null } } });
}

/** Returns the path of the first screen when a visit starts at `path`: that path, or the one that the guard redirects to. */
export function firstPath(path: string): string {
  const answer = visit(path, storedSession() !== null);
  const allowed = answer.allowed ? path : answer.redirectTo;
  return allowed === '/' ? screens.getStarted : allowed;
}
