/** Returns the signature parameters of a link's query; an empty object for an unsigned link. */
export function signatureOf(query: URLSearchParams): { exp?: string; sig?: string } {
  const exp = query.get('exp');
  const sig = query.get('sig');
  return { ...(exp !== null && { exp }), ...(sig !== null && { sig }) };
}

/** Parses an integer parameter of a link's query. Returns null if it is missing, NaN if it is not an integer. */
export function wholeNumber(query: URLSearchParams, name: string): number | null {
  const text = query.get(name);
  if (!text) return null;
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
}
