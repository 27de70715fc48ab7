/**
 * Returns the token of a sign-in link, or null if there is none. Removes the token from the page's URL, where others could read
 * it, and from the history.
 */
function takeToken(): string | null {
  const { pathname, hash } = window.location;
  if (pathname !== '/enter' || hash.length < 2) return null;
  window.history.replaceState(null, '', pathname);
  return hash.slice(1);
}

// Opening another sign-in link in this tab changes only the part after the `#`, which does not reload the page by itself.
window.addEventListener('hashchange', () => {
  if (window.location.pathname === '/enter' && window.location.hash.length > 1) window.location.reload();
});

/** The token of the sign-in link that opened this page; null if none did. */
export const linkToken = takeToken();
