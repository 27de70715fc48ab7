/** Whether a text is a uuid in lower case. Checked before a query, since PostgreSQL raises an error for any other text. */
export function isUuid(text: string | undefined): text is string {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text ?? '');
}
