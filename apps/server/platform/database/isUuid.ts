/** Whether a text is a uuid. PostgreSQL raises an error if any other text is compared with a uuid column. */
export function isUuid(text: string | undefined): text is string {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text ?? '');
}
