/** Returns the signature parameters of a link's query; an empty object for an unsigned link. */
export function signatureOf(query: URLSearchParams): { exp?: string; sig?: string } {
  const exp = query.get('exp');
  const sig = query.get('sig');
  return { ...(exp !== null && { exp }), ...(sig !== null && { sig }) };
}
