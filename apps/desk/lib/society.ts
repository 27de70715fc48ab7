/** What the server writes into the page: it is known before anybody has signed in, and moves nothing when it comes. */
export const societyName =
  document.querySelector<HTMLMetaElement>('meta[name="application-name"]')?.content ?? '';
/** Whether all data are made up. */
export const isTest = document.documentElement.dataset.mode === 'local';
/** The name of the identity provider at which staff have accounts; null if there is none. */
export const providerName = document.documentElement.dataset.provider || null;
