import type { callDesk } from '#client/deskClient.ts';
import type { DeskActionName, DeskBody, DeskDone, DeskParams, Shown } from '#contract/deskSchemas.ts';
import { call } from './call.ts';

/** An action with its params and body, without the fields that decide whether it is tried or done. */
export type Asked<Name extends DeskActionName> = {
  name: Name;
  body: Omit<DeskBody<Name>, 'trial' | 'seen'>;
} & (DeskParams<Name> extends Record<string, never> ? { params?: undefined } : { params: DeskParams<Name> });

/** Returns what an action would do. */
export async function tryAction<Name extends DeskActionName>(
  asked: Asked<Name>,
  signal: AbortSignal,
): Promise<Shown> {
  return (await send(asked, { trial: true }, signal)) as Shown;
}

/** Does an action as it was shown. Throws `Changed` if its effect has changed. */
export async function doAction<Name extends DeskActionName>(
  asked: Asked<Name>,
  { seen }: Shown,
): Promise<DeskDone<Name>> {
  return (await send(asked, { trial: false, seen })) as DeskDone<Name>;
}

function send<Name extends DeskActionName>(
  { name, params, body }: Asked<Name>,
  how: { trial: boolean; seen?: string },
  signal?: AbortSignal,
) {
  const options = { params, body: { ...body, ...how }, signal } as unknown as Parameters<
    typeof callDesk<Name>
  >[1];
  return call(name, ...([options] as never));
}
