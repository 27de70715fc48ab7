import type { StaffRole } from '#core/staff.ts';

/**
 * The only list of the desk's calls: method, path, and the lowest role that may make the call (null: no session is needed). The
 * browser loads this file, so it imports no schema library; the shapes are in deskSchemas.ts, under the same names.
 * - `query`: a POST that changes nothing. It is a POST because its search text does not belong in a URL.
 * - `file`: the answer is a file.
 * - `raw`: the request body is a file.
 * - Calls whose shapes are made by `action` show what they would do before they do it.
 */
export const deskCalls = {
  enter: { method: 'POST', path: '/api/desk/enter', role: null },
  getPasskeyOptions: { method: 'POST', path: '/api/desk/passkey/options', role: null, query: true },
  signInByPasskey: { method: 'POST', path: '/api/desk/passkey', role: null },
  addPasskey: { method: 'POST', path: '/api/desk/passkey/add', role: null },
  enterByProvider: { method: 'POST', path: '/api/desk/enter/provider', role: null },
  signOut: { method: 'POST', path: '/api/desk/sign-out', role: 'staff' },
  getMe: { method: 'GET', path: '/api/desk/me', role: 'staff' },
  getToday: { method: 'GET', path: '/api/desk/today', role: 'staff' },
  getDoneNotices: { method: 'GET', path: '/api/desk/notices/done', role: 'staff' },
  markNoticeDone: { method: 'POST', path: '/api/desk/notices/{id}/done', role: 'staff' },
  searchPeople: { method: 'POST', path: '/api/desk/people/search', role: 'staff', query: true },
  getWaiting: { method: 'GET', path: '/api/desk/people/waiting', role: 'staff' },
  getPeopleFile: { method: 'POST', path: '/api/desk/people.csv', role: 'staff', query: true, file: true },
  getPerson: { method: 'GET', path: '/api/desk/people/{id}', role: 'staff' },
  getPersonAtHubspot: { method: 'GET', path: '/api/desk/people/{id}/hubspot', role: 'staff' },
  getStaff: { method: 'GET', path: '/api/desk/staff', role: 'owner' },
  makeStaffLink: { method: 'POST', path: '/api/desk/staff/link', role: 'owner' },
  setStaffRole: { method: 'POST', path: '/api/desk/staff/{id}/role', role: 'owner' },
  endStaffAccess: { method: 'POST', path: '/api/desk/staff/{id}/end', role: 'owner' },
  searchEvents: { method: 'POST', path: '/api/desk/events', role: 'owner', query: true },
  getParcels: { method: 'GET', path: '/api/desk/parcels', role: 'staff' },
  getPackingList: { method: 'GET', path: '/api/desk/parcels.csv', role: 'staff', file: true },
  shipGoods: { method: 'POST', path: '/api/desk/parcels/ship', role: 'staff' },
  unshipGoods: { method: 'POST', path: '/api/desk/parcels/unship', role: 'staff' },
  getNumbers: { method: 'GET', path: '/api/desk/numbers', role: 'staff' },
  getNumbersFile: { method: 'GET', path: '/api/desk/numbers.csv', role: 'staff', file: true },
  getLedger: { method: 'GET', path: '/api/desk/ledger', role: 'finance' },
  readLedger: { method: 'POST', path: '/api/desk/ledger', role: 'finance' },
  getLedgerFile: { method: 'GET', path: '/api/desk/ledger.csv', role: 'finance', file: true },
  getReconciliations: { method: 'GET', path: '/api/desk/reconciliations', role: 'finance' },
  getEventsFile: { method: 'GET', path: '/api/desk/events.csv', role: 'owner', file: true },
  explainInvitation: {
    method: 'POST',
    path: '/api/desk/invitations/explain',
    role: 'staff',
    query: true,
  },
  searchInvitations: { method: 'POST', path: '/api/desk/invitations/search', role: 'staff', query: true },
  getInvitationsFile: {
    method: 'POST',
    path: '/api/desk/invitations.csv',
    role: 'staff',
    query: true,
    file: true,
  },
  getImports: { method: 'GET', path: '/api/desk/invitations/imports', role: 'staff' },
  getImport: { method: 'GET', path: '/api/desk/invitations/imports/{id}', role: 'staff' },
  uploadInvitations: { method: 'POST', path: '/api/desk/invitations/upload', role: 'staff', raw: true },
  uploadContacts: { method: 'POST', path: '/api/desk/invitations/contacts', role: 'staff', raw: true },
  importInvitations: { method: 'POST', path: '/api/desk/invitations/imports/{id}/import', role: 'staff' },
  makeCodes: { method: 'POST', path: '/api/desk/invitations/mint', role: 'staff' },
  getRefusedLines: {
    method: 'GET',
    path: '/api/desk/invitations/imports/{id}/refused.csv',
    role: 'staff',
    file: true,
  },
  getMadeCodes: {
    method: 'GET',
    path: '/api/desk/invitations/imports/{id}/codes.csv',
    role: 'staff',
    file: true,
  },
  withdrawInvitations: { method: 'POST', path: '/api/desk/invitations/withdraw', role: 'staff' },
  extendInvitations: { method: 'POST', path: '/api/desk/invitations/extend', role: 'staff' },
  getTranscripts: { method: 'GET', path: '/api/desk/transcripts', role: 'staff' },
  getTranscriptsFile: { method: 'GET', path: '/api/desk/transcripts.csv', role: 'staff', file: true },
  getTranscript: { method: 'GET', path: '/api/desk/transcripts/{id}/{join}', role: 'staff' },
  remindOfProof: { method: 'POST', path: '/api/desk/transcripts/remind', role: 'staff' },
  acceptTranscripts: { method: 'POST', path: '/api/desk/people/{id}/accept', role: 'staff' },
  rejectTranscripts: { method: 'POST', path: '/api/desk/people/{id}/reject', role: 'staff' },
  reopenTranscripts: { method: 'POST', path: '/api/desk/people/{id}/reopen', role: 'staff' },
  rejectFinally: { method: 'POST', path: '/api/desk/people/{id}/reject-finally', role: 'finance' },
  openDocument: { method: 'GET', path: '/api/desk/documents/{id}/bytes', role: 'staff', file: true },
  getCorrectable: { method: 'GET', path: '/api/desk/people/{id}/correct', role: 'staff' },
  correctPerson: { method: 'POST', path: '/api/desk/people/{id}/correct', role: 'staff' },
  addNote: { method: 'POST', path: '/api/desk/people/{id}/notes', role: 'staff' },
  removeNote: { method: 'POST', path: '/api/desk/notes/{id}/remove', role: 'staff' },
  declineRefund: { method: 'POST', path: '/api/desk/people/{id}/decline-refund', role: 'finance' },
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
  addTranscript: { method: 'POST', path: '/api/desk/people/{id}/documents', role: 'staff', raw: true },
  retryAtHubspot: { method: 'POST', path: '/api/desk/hubspot/retry', role: 'staff' },
  joinPersons: { method: 'POST', path: '/api/desk/people/{id}/join', role: 'staff' },
  keepApart: { method: 'POST', path: '/api/desk/people/{id}/keep-apart', role: 'staff' },
  linkContact: { method: 'POST', path: '/api/desk/people/{id}/hubspot/link', role: 'staff' },
  getLetter: { method: 'GET', path: '/api/desk/letters/{id}', role: 'staff' },
} as const satisfies Record<
  string,
  {
    method: 'GET' | 'POST';
    path: `/api/desk/${string}`;
    role: StaffRole | null;
    query?: true;
    file?: true;
    raw?: true;
  }
>;

export type DeskCallName = keyof typeof deskCalls;
/** Whether a call is recorded in the log of what staff did: it changes something, or answers with a file. */
export function isRecorded(name: DeskCallName): boolean {
  const call = deskCalls[name];
  return 'file' in call || (call.method === 'POST' && !('query' in call));
}
/** The calls whose answer is a file. */
export type DeskFileName = {
  [Name in DeskCallName]: (typeof deskCalls)[Name] extends { file: true } ? Name : never;
}[DeskCallName];
