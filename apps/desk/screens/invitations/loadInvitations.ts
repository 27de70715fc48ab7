import type { LoaderFunctionArgs } from 'react-router';
import type { DeskBody, DeskData } from '#contract/deskSchemas.ts';
import { isDay } from '#core/day.ts';
import { type InvitationState, invitationStates } from '#core/invitation.ts';
import { call } from '../../lib/call.ts';

export type Filter = DeskBody<'searchInvitations'>['filter'];
export type Invitation = DeskData<'searchInvitations'>['rows'][number];
export type Verdict = DeskData<'explainInvitation'>;
export interface InvitationData {
  list: DeskData<'searchInvitations'>;
  filter: Filter;
  /** The code in the URL that staff want to have explained, and the answer; null if there is none. */
  explained: { text: string; verdict: Verdict } | null;
}

/** Loads the invitations that the filters in the URL find, and the explanation of the code in the URL. */
export async function loadInvitations({ request }: LoaderFunctionArgs): Promise<InvitationData> {
  const query = new URL(request.url).searchParams;
  const filter: Filter = {};
  for (const name of ['text', 'school', 'programme', 'campaign'] as const) {
    const value = query.get(name)?.trim();
    if (value) filter[name] = value;
  }
  const lastDay = query.get('lastDay') ?? '';
  if (isDay(lastDay)) filter.lastDay = lastDay;
  const state = query.get('state') as InvitationState | null;
  if (state && invitationStates.includes(state)) filter.state = state;
  const code = query.get('code')?.trim().slice(0, 200) ?? '';
  const { signal } = request;
  const [list, verdict] = await Promise.all([
    call('searchInvitations', { body: { filter }, signal }),
    code === '' ? null : call('explainInvitation', { body: { code }, signal }),
  ]);
  return { list, filter, explained: verdict && { text: code, verdict } };
}

/** Loads the programmes that codes can be for. */
export async function loadProgrammes({
  request,
}: LoaderFunctionArgs): Promise<InvitationData['list']['programmes']> {
  const { programmes } = await call('searchInvitations', { body: { filter: {} }, signal: request.signal });
  return programmes;
}
