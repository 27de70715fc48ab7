import { Readable } from 'node:stream';
import { create as contentDisposition } from 'content-disposition';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodType } from 'zod';
import { type DeskCallName, deskCalls, isRecorded } from '#contract/deskCalls.ts';
import {
  type DeskBody,
  type DeskData,
  type DeskParams,
  type DeskQuery,
  deskSchemas,
} from '#contract/deskSchemas.ts';
import { changedFailure } from '#contract/deskShapes.ts';
import { success } from '#contract/shapes.ts';
import { plain, plainLines } from '#core/cleanText.ts';
import { hasRightsOf } from '#core/staff.ts';
import { countWithin, TOO_MANY } from '../platform/http/limits.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { failures } from '../platform/http/routes.ts';
import type { Deps } from './deps.ts';
import { noteEvent } from './events.ts';
import type { Staff } from './links.ts';
import { readSession, tokenOf } from './sessions.ts';

export const SIGNED_OUT = 'You are signed out. Sign in again.';
export const NOT_YOURS = 'Your role does not allow this.';
export const FOREIGN = 'This request did not come from the desk.';

export interface DeskContext<Name extends DeskCallName> {
  /** The member of staff who calls; null only for calls that need no session. */
  staff: (typeof deskCalls)[Name]['role'] extends null ? Staff | null : Staff;
  params: DeskParams<Name>;
  query: DeskQuery<Name>;
  body: DeskBody<Name>;
  request: FastifyRequest;
  reply: FastifyReply;
}

/**
 * A file that staff download: a table that we generate (CSV), sent in pieces, or the bytes of an uploaded document or a
 * certificate.
 */
export type DeskFile = { name: string } & ({ pieces: AsyncIterable<string> } | { bytes: Buffer });

type Answered<Name extends DeskCallName> = (typeof deskCalls)[Name] extends { file: true }
  ? DeskFile
  : DeskData<Name>;

/** Returns the subject of a call for the record of actions. `answer` is the call's answer, null if the call failed. */
export type Subject<Name extends DeskCallName> = (
  context: DeskContext<Name>,
  answer: Answered<Name> | null,
) => string | undefined | Promise<string | undefined>;

/**
 * Registers a call of the desk. Refuses a caller who is not signed in with 401. Refuses a role that is too low, and a POST from
 * another origin, with 403. Records actions and downloads of staff, successful or not, but no trials. Cleans every answer with
 * {@link withoutControls}, except files. `subject` returns what the call is about.
 */
export function serveDesk<Name extends DeskCallName>(
  app: FastifyInstance,
  deps: Deps & { deskUrl: string },
  name: Name,
  handler: (context: DeskContext<Name>) => Promise<Answered<Name>> | Answered<Name>,
  subject?: Subject<Name>,
): void {
  const { method, path, role } = deskCalls[name];
  const isFile = 'file' in deskCalls[name];
  const shape = deskSchemas[name] as {
    params?: ZodType;
    query?: ZodType;
    body?: ZodType;
    data: ZodType;
  };
  app.route({
    method,
    url: path.replace(/\{(\w+)\}/g, ':$1'),
    schema: {
      ...(shape.params ? { params: shape.params } : {}),
      ...(shape.query ? { querystring: shape.query } : {}),
      ...(shape.body ? { body: shape.body } : {}),
      response: { ...(isFile ? {} : { 200: success(shape.data) }), ...failures, 409: changedFailure },
    },
    // Runs before the body is read, so that the body of an unknown caller is never read.
    onRequest: async (request) => {
      if (method === 'POST') refuseForeign(request, deps.deskUrl);
      if (role === null) await limitSignIns(deps, request.ip);
      const token = tokenOf(request, deps.deskUrl);
      const staff = token === null ? null : await readSession(deps.database, token);
      request.staff = staff;
      if (role === null) return;
      if (!staff) throw new Refusal(401, SIGNED_OUT);
      if (hasRightsOf(staff.role, role)) return;
      await noteEvent(deps, { staff, action: name, outcome: 'refused' });
      throw new Refusal(403, NOT_YOURS);
    },
    handler: async (request, reply) => {
      const { staff, params, query, body } = request;
      const context = { staff, params, query, body, request, reply } as DeskContext<Name>;
      const isNoted = isRecorded(name) && (body as { trial?: boolean } | undefined)?.trial !== true;
      const note = async (outcome: 'done' | 'refused' | 'failed', answer: Answered<Name> | null = null) =>
        noteEvent(deps, {
          staff: request.staff,
          action: name,
          subject: await subject?.(context, answer),
          outcome,
        });
      try {
        const data = await handler(context);
        if (isNoted) await note('done', data);
        if (isFile) return sendFile(reply, data as DeskFile);
        return { success: true, status: 'success', data: withoutControls(data) };
      } catch (error) {
        if (isNoted) await note(error instanceof Refusal ? 'refused' : 'failed');
        throw error;
      }
    },
  });
}

/**
 * Sends a file as a download. A table begins with a byte order mark, from which Excel recognises UTF-8. The headers of any other
 * file make sure that it runs no script and loads nothing, even if a browser shows it.
 */
function sendFile(reply: FastifyReply, file: DeskFile): FastifyReply {
  void reply.header('content-disposition', contentDisposition(plain(file.name)));
  if ('bytes' in file)
    return reply
      .type('application/octet-stream')
      .header('content-security-policy', "sandbox;default-src 'none';frame-ancestors 'none'")
      .send(file.bytes);
  const { pieces } = file;
  async function* marked() {
    yield '\ufeff';
    for await (const piece of pieces) yield piece.split('\r\n').map(plainLines).join('\r\n');
  }
  return reply.type('text/csv; charset=utf-8').send(Readable.from(marked(), { objectMode: false }));
}

/** Removes characters that change how the text around them is shown. Names and other texts come from outside. */
function withoutControls<T>(data: T): T {
  if (typeof data === 'string') return plainLines(data) as T;
  if (Array.isArray(data)) return data.map(withoutControls) as T;
  if (data === null || typeof data !== 'object') return data;
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, withoutControls(value)])) as T;
}

/** Throws a {@link Refusal} (429) if too many sign-ins came from an address. */
export async function limitSignIns({ database, config, hashAddress }: Deps, address: string): Promise<void> {
  const limit = config.limits?.deskSignInsPerAddress;
  if (limit && !(await countWithin(database, 'desk sign-ins', hashAddress(address), limit)))
    throw new Refusal(429, TOO_MANY);
}

/** Refuses a POST from another origin: pages of other origins cannot set these headers. */
function refuseForeign({ headers }: FastifyRequest, deskUrl: string): void {
  if (headers.origin !== deskUrl || headers['sec-fetch-site'] !== 'same-origin')
    throw new Refusal(403, FOREIGN);
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The member of staff who is signed in at the desk; null if nobody is. */
    staff: Staff | null;
  }
}
