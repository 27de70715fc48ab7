/** Whether a text from outside may be compared with a uuid column, which refuses all others with an error. */
export function isUuid(text: string | undefined): text is string {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text ?? '');
}
