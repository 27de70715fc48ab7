/** Takes the token of a sign-in link out of the address, where others could read it, and off the history. Null: there is none. */
function takeToken(): string | null {
  const { pathname, hash } = window.location;
  if (pathname !== '/enter' || hash.length < 2) return null;
  window.history.replaceState(null, '', pathname);
  return hash.slice(1);
}

// Another link that is opened in this tab changes nothing but what is after the `#`, which loads nothing by itself.
window.addEventListener('hashchange', () => {
  if (window.location.pathname === '/enter' && window.location.hash.length > 1) window.location.reload();
});

/** The token of the sign-in link that opened this page; null if none did. */
export const linkToken = takeToken();
