import type { StaffRole } from '#core/staff.ts';

/**
 * The only list of the desk's calls, with method, path, and the least role that may make them; null: without a session. The browser
 * loads this file, so it imports no schema library; the shapes are in deskSchemas.ts, under the same names. A POST that is a `query`
 * changes nothing: what is asked for does not belong in an address. The calls whose shapes are `action` are shown before they are done. A `file` is
 * answered as such, and recorded.
 */
export const deskCalls = {
  enter: { method: 'POST', path: '/api/desk/enter', role: null },
  getPasskeyOptions: { method: 'POST', path: '/api/desk/passkey/options', role: null, query: true },
  signInByPasskey: { method: 'POST', path: '/api/desk/passkey', role: null },
  addPasskey: { method: 'POST', path: '/api/desk/passkey/add', role: null },
  signOut: { method: 'POST', path: '/api/desk/sign-out', role: 'staff' },
  getMe: { method: 'GET', path: '/api/desk/me', role: 'staff' },
  getToday: { method: 'GET', path: '/api/desk/today', role: 'staff' },
  getDoneNotices: { method: 'GET', path: '/api/desk/notices/done', role: 'staff' },
  markNoticeDone: { method: 'POST', path: '/api/desk/notices/{id}/done', role: 'staff' },
  searchPeople: { method: 'POST', path: '/api/desk/people/search', role: 'staff', query: true },
  getPerson: { method: 'GET', path: '/api/desk/people/{id}', role: 'staff' },
  getPersonAtHubspot: { method: 'GET', path: '/api/desk/people/{id}/hubspot', role: 'staff' },
  getCorrectable: { method: 'GET', path: '/api/desk/people/{id}/correct', role: 'staff' },
  correctPerson: { method: 'POST', path: '/api/desk/people/{id}/correct', role: 'staff' },
  addNote: { method: 'POST', path: '/api/desk/people/{id}/notes', role: 'staff' },
  removeNote: { method: 'POST', path: '/api/desk/notes/{id}/remove', role: 'staff' },
  refundJoin: { method: 'POST', path: '/api/desk/people/{id}/refund', role: 'finance' },
  refundPayment: { method: 'POST', path: '/api/desk/payments/{id}/refund', role: 'finance' },
  getAssignments: { method: 'GET', path: '/api/desk/refunds/{id}/assignments', role: 'finance' },
  assignRefund: { method: 'POST', path: '/api/desk/refunds/{id}/assign', role: 'finance' },
  settleJoin: { method: 'POST', path: '/api/desk/people/{id}/settle', role: 'finance' },
  sendLetter: { method: 'POST', path: '/api/desk/people/{id}/letters', role: 'staff' },
  sendJoinLink: { method: 'POST', path: '/api/desk/people/{id}/links/send', role: 'staff' },
  stopReminders: { method: 'POST', path: '/api/desk/people/{id}/reminders/stop', role: 'staff' },
  endLinks: { method: 'POST', path: '/api/desk/people/{id}/links/end', role: 'staff' },
  getLinkProducts: { method: 'GET', path: '/api/desk/products', role: 'staff' },
  makeLink: { method: 'POST', path: '/api/desk/people/{id}/link', role: 'staff' },
  getCertificate: {
    method: 'GET',
    path: '/api/desk/people/{id}/certificate.pdf',
    role: 'staff',
    file: true,
  },
  addTranscript: { method: 'POST', path: '/api/desk/people/{id}/documents', role: 'staff' },
  retryAtHubspot: { method: 'POST', path: '/api/desk/hubspot/retry', role: 'staff' },
  joinPersons: { method: 'POST', path: '/api/desk/people/{id}/join', role: 'staff' },
  keepApart: { method: 'POST', path: '/api/desk/people/{id}/keep-apart', role: 'staff' },
  linkContact: { method: 'POST', path: '/api/desk/people/{id}/hubspot/link', role: 'staff' },
  getLetter: { method: 'GET', path: '/api/desk/letters/{id}', role: 'staff' },
} as const satisfies Record<
  string,
  { method: 'GET' | 'POST'; path: `/api/desk/${string}`; role: StaffRole | null; query?: true; file?: true }
>;

export type DeskCallName = keyof typeof deskCalls;
