import {
  type LoaderFunctionArgs,
  replace,
  type ShouldRevalidateFunctionArgs,
  useOutletContext,
} from 'react-router';
import type { DeskData } from '#contract/deskSchemas.ts';
import { call } from '../../lib/call.ts';

export type PersonData = DeskData<'getPerson'>;

/** Loads a person. Who became another by a merge is at the other's address. */
export async function loadPerson({ params, request }: LoaderFunctionArgs): Promise<PersonData> {
  const id = params.id!;
  const person = await call('getPerson', { params: { id }, signal: request.signal });
  if (String(person.id) !== id)
    throw replace(new URL(request.url).pathname.replace(`/people/${id}`, `/people/${person.id}`));
  return person;
}

/** A filter in the address changes nothing of the person. */
export function mustLoadPerson({
  currentUrl,
  nextUrl,
  defaultShouldRevalidate,
}: ShouldRevalidateFunctionArgs): boolean {
  const isFilter = currentUrl.pathname === nextUrl.pathname && currentUrl.search !== nextUrl.search;
  return !isFilter && defaultShouldRevalidate;
}

/** For the tabs of a person. */
export const usePerson = () => useOutletContext<PersonData>();

/** Returns what a person is called. */
export function nameOf({ id, name, email }: Pick<PersonData, 'id' | 'name' | 'email'>): string {
  return name ?? email ?? `Person ${id}`;
}
