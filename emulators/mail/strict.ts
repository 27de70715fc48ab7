/** The longest line of a message, in bytes without its CRLF (RFC 5322, 2.1.1). */
const LONGEST_LINE = 998;
/**
 * Header fields that our letters must have exactly once. RFC 5322, 3.6, requires only Date and From; Message-ID identifies a
 * retry.
 */
const ONCE = ['date', 'from', 'to', 'subject', 'message-id', 'mime-version'];

/** Returns the fields of a message's header, unfolded, with names in lower case. */
export function headerOf(message: Buffer): { name: string; value: string }[] {
  const text = message.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  return text
    .slice(0, end < 0 ? text.length : end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
    .map((line) => {
      const colon = line.indexOf(':');
      return { name: line.slice(0, colon).trim().toLowerCase(), value: line.slice(colon + 1).trim() };
    });
}

/**
 * Returns a sentence about what is wrong with a message as received over SMTP; null if nothing is. Other mail servers could
 * refuse or change a message with such a fault.
 */
export function faultOf(message: Buffer, envelope: { from: string; to: readonly string[] }): string | null {
  const text = message.toString('latin1');
  if (/(^|[^\r])\n|\r(?!\n)/.test(text)) return 'a line ends with CR or LF alone';
  if (text.split('\r\n').some((line) => line.length > LONGEST_LINE))
    return `a line has more than ${LONGEST_LINE} bytes`;
  const fields = headerOf(message);
  const wrong = fields.find(({ name }) => !/^[!-9;-~]+$/.test(name));
  if (wrong) return `the header has a line that is no field: ${wrong.name.slice(0, 40)}`;
  if (fields.some(({ value }) => /[^\t -~]/.test(value)))
    return 'the header has a character that is not ASCII';
  const missing = ONCE.find((once) => fields.filter(({ name }) => name === once).length !== 1);
  if (missing) return `the header has not exactly one ${missing}`;
  const fieldOf = (once: string) => fields.find(({ name }) => name === once)!.value;
  if (!/^<[^<>@\s]+@[^<>@\s]+>$/.test(fieldOf('message-id'))) return 'the Message-ID is none';
  if (Number.isNaN(Date.parse(fieldOf('date')))) return 'the Date is none';
  if (addressIn(fieldOf('from')) !== envelope.from) return 'From is not who sends it';
  if (envelope.to.length !== 1 || addressIn(fieldOf('to')) !== envelope.to[0])
    return 'To is not whom it is sent to';
  return null;
}

function addressIn(value: string): string {
  return /<([^<>]+)>$/.exec(value)?.[1] ?? value;
}
