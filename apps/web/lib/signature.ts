/** The signature of a link, as its query carries it; an unsigned link has none. */
export function signatureOf(query: URLSearchParams): { exp?: string; sig?: string } {
  const exp = query.get('exp');
  const sig = query.get('sig');
  return { ...(exp !== null && { exp }), ...(sig !== null && { sig }) };
}

/** A whole number of a link's query: null when it is not there, NaN when it is no whole number. */
export function wholeNumber(query: URLSearchParams, name: string): number | null {
  const text = query.get(name);
  if (text === null || text === '') return null;
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
}
