import { type DeskCallName, type DeskFileName, deskCalls } from '#contract/deskCalls.ts';
import type { DeskBody, DeskData, DeskParams, DeskQuery, Shown } from '#contract/deskSchemas.ts';
import { filledIn } from '#contract/filledIn.ts';
import type { Failure } from '#contract/schemas.ts';
import { sentenceOfProxy } from '#core/sentences.ts';
import { type Arrived, exchange } from './exchange.ts';
import { ApiError } from './failures.ts';

type Asked<Name extends DeskCallName> = (DeskParams<Name> extends Record<string, never>
  ? { params?: undefined }
  : { params: DeskParams<Name> }) &
  (DeskQuery<Name> extends undefined ? { query?: undefined } : { query: DeskQuery<Name> }) &
  (DeskBody<Name> extends undefined ? { body?: undefined } : { body: DeskBody<Name> });

/** The arguments of a desk call: its path parameters, query and body, if it has any, and a signal that aborts it. */
export type DeskArguments<Name extends DeskCallName> =
  Record<string, never> extends Asked<Name>
    ? [options?: Asked<Name> & { signal?: AbortSignal }]
    : [options: Asked<Name> & { signal?: AbortSignal }];

/** Thrown when the effect that was shown for an action has changed. `shown` is the present effect. */
export class Changed extends ApiError {
  readonly shown: Shown;
  constructor(path: string, answer: Partial<Failure> & { shown: Shown }) {
    super(path, 409, answer);
    this.shown = answer.shown;
  }
}

/**
 * Makes a desk call and returns its `data`. Throws `ApiError` for a failure, {@link Changed} if the effect of an action has
 * changed, and `Unsent` if there is no answer.
 */
export async function callDesk<Name extends DeskCallName>(
  name: Name,
  ...[options]: DeskArguments<Name>
): Promise<DeskData<Name>> {
  const { status, answer } = await ask(name, options);
  const given = answer as { data?: unknown } | null;
  if (status === 200 && given?.data) return given.data as DeskData<Name>;
  throw failureOf(name, status, answer);
}

/** Makes a desk call that answers with a file, and returns the file. Throws the same errors as {@link callDesk}. */
export async function takeDeskFile<Name extends DeskFileName>(
  name: Name,
  ...[options]: DeskArguments<Name>
): Promise<ArrayBuffer> {
  const { status, answer, bytes } = await ask(name, options);
  if (bytes) return bytes;
  throw failureOf(name, status, answer);
}

function ask(name: DeskCallName, options: object | undefined): Promise<Arrived> {
  const { params, query, body, signal } = (options ?? {}) as {
    params?: Record<string, string>;
    query?: Record<string, string>;
    body?: unknown;
    signal?: AbortSignal;
  };
  const { method } = deskCalls[name];
  const isFile = 'file' in deskCalls[name];
  return exchange(addressOf(name, params, query), { method, body, signal, isFile });
}

function failureOf(name: DeskCallName, status: number, answer: unknown): ApiError {
  const { path } = deskCalls[name];
  const given = (answer ?? { message: sentenceOfProxy(status) }) as Partial<Failure> & { shown?: Shown };
  const { shown } = given;
  return shown ? new Changed(path, { ...given, shown }) : new ApiError(path, status, given);
}

/** Returns the URL of a call, with its query. */
export function addressOf(
  name: DeskCallName,
  params?: Record<string, string>,
  query?: Record<string, string>,
): string {
  const path = filledIn(deskCalls[name].path, params);
  return query ? `${path}?${new URLSearchParams(query)}` : path;
}
