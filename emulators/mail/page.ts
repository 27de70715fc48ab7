import { createHash } from 'node:crypto';
import type { ParsedMail } from 'mailparser';

export interface Listed {
  id: number;
  to: string;
  subject: string;
  receivedAt: number;
  arrivals: number;
}

const style = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
  table { border-collapse: collapse; width: 100%; }
  th, td { text-align: left; padding: .4rem .8rem .4rem 0; border-bottom: 1px solid #8886; vertical-align: top; }
  iframe { width: 100%; height: 60rem; border: 1px solid #8886; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 1rem; border: 1px solid #8886; }
  dt { font-weight: 600; } dd { margin: 0 0 .4rem; overflow-wrap: anywhere; }
`;
const styleHash = `'sha256-${createHash('sha256').update(style).digest('base64')}'`;

/** The content security policy of the mailbox's own pages: allows only their style sheet, and a letter in a frame. */
export const PAGE_POLICY = `default-src 'none'; style-src ${styleHash}; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
/** The content security policy of a letter: blocks remote pictures, as many mail clients do. Links open in a separate window. */
export const LETTER_POLICY =
  "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'self'";

export function listPage(letters: readonly Listed[]): string {
  const rows = letters.map(
    ({ id, to, subject, receivedAt, arrivals }) =>
      `<tr><td><a href="/emulated/mail/${id}">${escaped(subject)}</a></td><td>${escaped(to)}</td><td>${timeOf(receivedAt)}</td><td>${arrivals}</td></tr>`,
  );
  const body =
    letters.length === 0
      ? '<p>No letter has come yet.</p>'
      : `<table><thead><tr><th scope="col">Subject</th><th scope="col">To</th><th scope="col">Received</th><th scope="col">Times sent</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
  return page(
    'Letters',
    `<h1>Letters</h1><p>A stand-in for a mail server: nothing leaves this machine.</p>${body}`,
  );
}

export function letterPage(id: number, mail: ParsedMail, { to, receivedAt, arrivals }: Listed): string {
  const facts = [
    ['From', mail.from?.text ?? ''],
    ['To', to],
    ['Message-ID', mail.messageId ?? ''],
    ['Received', `${timeOf(receivedAt)}, sent ${arrivals === 1 ? 'once' : `${arrivals} times, shown once`}`],
  ];
  return page(
    mail.subject ?? '',
    `<p><a href="/emulated/mail">All letters</a></p><h1>${escaped(mail.subject ?? '')}</h1>
    <dl>${facts.map(([name, value]) => `<dt>${name}</dt><dd>${escaped(value!)}</dd>`).join('')}</dl>
    <h2>As HTML</h2><iframe title="The letter as HTML" sandbox="allow-popups allow-popups-to-escape-sandbox" src="/emulated/mail/${id}/html"></iframe>
    <h2>As text alone</h2><pre>${escaped(mail.text ?? '')}</pre>`,
  );
}

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title><style>${style}</style></head><body><main>${body}</main></body></html>`;
}

function timeOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
