import { useEffect } from 'react';

/**
 * The screens but the first, and what cleans HTML: each a download of its own, but for the links to a checkout and to an
 * upgrade, which come with what they lead to. Named here so that the screen before can ask for it too. Whoever asks second gets what the
 * first one fetched.
 */
export const download = {
  init: () => import(/* webpackChunkName: "init" */ '../screens/init/route.tsx'),
  studentDetails: () =>
    import(/* webpackChunkName: "studentDetails" */ '../screens/studentDetails/route.tsx'),
  membership: () => import(/* webpackChunkName: "membership" */ '../screens/membership/route.tsx'),
  checkout: () => import(/* webpackChunkName: "checkout" */ '../screens/checkout/route.tsx'),
  postPayment: () => import(/* webpackChunkName: "postPayment" */ '../screens/postPayment/route.tsx'),
  upgrade: () => import(/* webpackChunkName: "upgrade" */ '../screens/upgrade/route.tsx'),
  initiateUpgrade: () => import(/* webpackChunkName: "upgrade" */ '../screens/initiateUpgrade/route.tsx'),
  uploadTranscript: () =>
    import(/* webpackChunkName: "uploadTranscript" */ '../screens/uploadTranscript/route.tsx'),
  congratulations: () =>
    import(/* webpackChunkName: "congratulations" */ '../screens/congratulations/route.tsx'),
  initializeCheckout: () =>
    import(/* webpackChunkName: "checkout" */ '../screens/initializeCheckout/route.tsx'),
  uploadResume: () => import(/* webpackChunkName: "uploadResume" */ '../screens/uploadResume/route.tsx'),
  uploadByLink: () => import(/* webpackChunkName: "uploadByLink" */ '../screens/uploadByLink/route.tsx'),
  cleaner: () => import(/* webpackChunkName: "purify" */ 'dompurify'),
  notFound: () => import(/* webpackChunkName: "notFound" */ '../screens/notFound/route.tsx'),
};

/** Fetches what is wanted next. A failure says nothing: whoever needs it asks again. Nothing where data is to be saved. */
export function fetchAhead(...wanted: (() => Promise<unknown>)[]): void {
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  if (connection?.saveData) return;
  for (const fetchOne of wanted) fetchOne().catch(() => {});
}

/** The same, once this screen stands and its own work is done. */
export function useAhead(wanted: () => Promise<unknown>): void {
  useEffect(() => {
    const fetchIt = () => fetchAhead(wanted);
    // Safari has no idle callback.
    if (typeof requestIdleCallback !== 'function') return fetchIt();
    const waiting = requestIdleCallback(fetchIt);
    return () => cancelIdleCallback(waiting);
  }, [wanted]);
}
