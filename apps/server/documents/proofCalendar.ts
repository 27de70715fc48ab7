import type { Deps } from './deps.ts';

/**
 * Returns a calendar file (iCalendar, RFC 5545) with an entry for a proof of eligibility that is due on this day (YYYY-MM-DD),
 * and a reminder three days before. The entry is for a whole day, because the day is in the society's time zone. It names no
 * member.
 */
export function proofCalendar({ society, config }: Pick<Deps, 'society' | 'config'>, day: string): string {
  const { name, supportEmail } = society.society;
  const date = day.replaceAll('-', '');
  const { hostname } = new URL(config.publicUrl);
  return [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Induct//Proof of eligibility//EN',
    'BEGIN:VEVENT',
    `UID:proof-${date}@${hostname}`,
    `DTSTAMP:${date}T000000Z`,
    `DTSTART;VALUE=DATE:${date}`,
    `SUMMARY:${escaped(`Proof of eligibility is due: ${name}`)}`,
    `DESCRIPTION:${escaped(`Upload it by the link in our letters, or email it to ${supportEmail}.`)}`,
    'TRANSP:TRANSPARENT',
    'BEGIN:VALARM',
    'ACTION:DISPLAY',
    `DESCRIPTION:${escaped(`Proof of eligibility is due: ${name}`)}`,
    'TRIGGER:-P3D',
    'END:VALARM',
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ]
    .map(folded)
    .join('\r\n');
}

function escaped(text: string): string {
  return text.replaceAll(/[\\;,]/g, '\\$&');
}

/** Breaks a line that has more than 75 bytes (RFC 5545, section 3.1), between characters. */
function folded(line: string): string {
  const lines = [''];
  for (const character of line) {
    const longer = lines.at(-1) + character;
    if (Buffer.byteLength(longer) <= 75) lines[lines.length - 1] = longer;
    else lines.push(` ${character}`);
  }
  return lines.join('\r\n');
}
