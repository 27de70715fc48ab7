import { type DeskCallName, deskCalls } from '#contract/deskCalls.ts';
import type { DeskBody, DeskData, DeskParams, DeskQuery, Shown } from '#contract/deskSchemas.ts';
import { filledIn } from '#contract/filledIn.ts';
import type { Failure } from '#contract/schemas.ts';
import { sentenceOfProxy } from '#core/sentences.ts';
import { exchange } from './exchange.ts';
import { ApiError } from './failures.ts';

type Asked<Name extends DeskCallName> = (DeskParams<Name> extends Record<string, never>
  ? { params?: undefined }
  : { params: DeskParams<Name> }) &
  (DeskQuery<Name> extends undefined ? { query?: undefined } : { query: DeskQuery<Name> }) &
  (DeskBody<Name> extends undefined ? { body?: undefined } : { body: DeskBody<Name> });

/** What a call of the desk takes: its path parameters, query and body, if it has any, and a signal that aborts it. */
export type DeskArguments<Name extends DeskCallName> =
  Record<string, never> extends Asked<Name>
    ? [options?: Asked<Name> & { signal?: AbortSignal }]
    : [options: Asked<Name> & { signal?: AbortSignal }];

/** Thrown when what was shown of an action does not hold any more. `shown` is what holds now. */
export class Changed extends ApiError {
  readonly shown: Shown;
  constructor(path: string, answer: Partial<Failure> & { shown: Shown }) {
    super(path, 409, answer);
    this.shown = answer.shown;
  }
}

/** Makes a call of the desk and returns its `data`. Throws `ApiError` for a failure, {@link Changed} for an action that has changed, and `Unsent` without an answer. */
export async function callDesk<Name extends DeskCallName>(
  name: Name,
  ...[options]: DeskArguments<Name>
): Promise<DeskData<Name>> {
  const { method, path } = deskCalls[name];
  const { params, query, body, signal } = (options ?? {}) as {
    params?: Record<string, string>;
    query?: Record<string, string>;
    body?: unknown;
    signal?: AbortSignal;
  };
  const { status, answer } = await exchange(addressOf(name, params, query), { method, body, signal });
  const given = (answer ?? { message: sentenceOfProxy(status) }) as
    | (Partial<Failure> & { shown?: Shown })
    | { data: unknown };
  if ('data' in given && given.data && status === 200) return given.data as DeskData<Name>;
  const { shown } = given as { shown?: Shown };
  if (shown) throw new Changed(path, { ...given, shown });
  throw new ApiError(path, status, given as Partial<Failure>);
}

/** Returns the address of a call, with its query. */
export function addressOf(
  name: DeskCallName,
  params?: Record<string, string>,
  query?: Record<string, string>,
): string {
  const path = filledIn(deskCalls[name].path, params);
  return query ? `${path}?${new URLSearchParams(query)}` : path;
}
