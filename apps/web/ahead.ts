import { useEffect } from 'react';

/**
 * The screens but the first, and what cleans HTML: each a download of its own, but for the links to a checkout and to an
 * upgrade, which come with what they lead to. Named here so that the screen before can ask for it too. Whoever asks second gets what the
 * first one fetched.
 */
export const download = {
  init: () => import(/* webpackChunkName: "init" */ './routes/init.tsx'),
  studentDetails: () => import(/* webpackChunkName: "studentDetails" */ './routes/studentDetails.tsx'),
  membership: () => import(/* webpackChunkName: "membership" */ './routes/membership.tsx'),
  checkout: () => import(/* webpackChunkName: "checkout" */ './routes/checkout.tsx'),
  postPayment: () => import(/* webpackChunkName: "postPayment" */ './routes/postPayment.tsx'),
  upgrade: () => import(/* webpackChunkName: "upgrade" */ './routes/upgrade.tsx'),
  initiateUpgrade: () => import(/* webpackChunkName: "upgrade" */ './routes/initiateUpgrade.tsx'),
  uploadTranscript: () => import(/* webpackChunkName: "uploadTranscript" */ './routes/uploadTranscript.tsx'),
  congratulations: () => import(/* webpackChunkName: "congratulations" */ './routes/congratulations.tsx'),
  initializeCheckout: () => import(/* webpackChunkName: "checkout" */ './routes/initializeCheckout.tsx'),
  uploadResume: () => import(/* webpackChunkName: "uploadResume" */ './routes/uploadResume.tsx'),
  uploadByLink: () => import(/* webpackChunkName: "uploadByLink" */ './routes/uploadByLink.tsx'),
  cleaner: () => import(/* webpackChunkName: "purify" */ 'dompurify'),
  notFound: () => import(/* webpackChunkName: "notFound" */ './routes/notFound.tsx'),
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
