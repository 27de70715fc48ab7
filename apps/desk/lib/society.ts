/**
 * The society's name, which the server writes into the page. So it is known before anybody has signed in, and nothing moves when
 * it appears.
 */
export const societyName =
  document.querySelector<HTMLMetaElement>('meta[name="application-name"]')?.content ?? '';
/** Whether the installation has test data only. */
export const isTest = document.documentElement.dataset.mode === 'local';
/** The name of the identity provider at which staff have accounts; null if there is none. */
export const providerName = document.documentElement.dataset.provider || null;
