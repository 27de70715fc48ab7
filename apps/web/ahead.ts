import { useEffect } from 'react';

/**
 * The screens but the first, each a download of its own, named here so that the router and the screen before can both ask for
 * one: whoever asks second gets what the first one fetched.
 */
export const download = {
  init: () => import('./routes/init.tsx'),
  studentDetails: () => import('./routes/studentDetails.tsx'),
  membership: () => import('./routes/membership.tsx'),
  checkout: () => import('./routes/checkout.tsx'),
  postPayment: () => import('./routes/postPayment.tsx'),
  upgrade: () => import('./routes/upgrade.tsx'),
  initiateUpgrade: () => import('./routes/initiateUpgrade.tsx'),
  uploadTranscript: () => import('./routes/uploadTranscript.tsx'),
  congratulations: () => import('./routes/congratulations.tsx'),
  initializeCheckout: () => import('./routes/initializeCheckout.tsx'),
  uploadResume: () => import('./routes/uploadResume.tsx'),
  uploadByLink: () => import('./routes/uploadByLink.tsx'),
  notFound: () => import('./routes/notFound.tsx'),
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
