import {
  type LoaderFunctionArgs,
  replace,
  type ShouldRevalidateFunctionArgs,
  useOutletContext,
} from 'react-router';
import type { DeskData } from '#contract/deskSchemas.ts';
import { call } from '../../lib/call.ts';

export type PersonData = DeskData<'getPerson'>;

/** Loads a person. A person who was merged into another is redirected to the other's page. */
export async function loadPerson({ params, request }: LoaderFunctionArgs): Promise<PersonData> {
  const id = params.id!;
  const person = await call('getPerson', { params: { id }, signal: request.signal });
  if (String(person.id) !== id)
    throw replace(new URL(request.url).pathname.replace(`/people/${id}`, `/people/${person.id}`));
  return person;
}

/** Returns false if only the URL's query changes: a filter does not change the person's data. */
export function mustLoadPerson({
  currentUrl,
  nextUrl,
  defaultShouldRevalidate,
}: ShouldRevalidateFunctionArgs): boolean {
  const isFilter = currentUrl.pathname === nextUrl.pathname && currentUrl.search !== nextUrl.search;
  return !isFilter && defaultShouldRevalidate;
}

/** Returns the person, for the tabs of the page. */
export const usePerson = () => useOutletContext<PersonData>();

/** Returns the name to show for a person. */
export function nameOf({ id, name, email }: Pick<PersonData, 'id' | 'name' | 'email'>): string {
  return name ?? email ?? `Person ${id}`;
}
