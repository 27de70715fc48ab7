import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodType } from 'zod';
import { type DeskCallName, deskCalls } from '#contract/deskCalls.ts';
import {
  type DeskBody,
  type DeskData,
  type DeskParams,
  type DeskQuery,
  deskSchemas,
} from '#contract/deskSchemas.ts';
import { changedFailure } from '#contract/deskShapes.ts';
import { success } from '#contract/schemas.ts';
import { plainLines } from '#core/cleanText.ts';
import { hasRightsOf } from '#core/staff.ts';
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
  /** Who calls; null only for calls that need no session. */
  staff: (typeof deskCalls)[Name]['role'] extends null ? Staff | null : Staff;
  params: DeskParams<Name>;
  query: DeskQuery<Name>;
  body: DeskBody<Name>;
  request: FastifyRequest;
  reply: FastifyReply;
}

/**
 * Registers a call of the desk. Refuses with 401 who is not signed in, and with 403 a role that is too low, and a POST from another
 * origin. Records what staff do or may not do, but for trials, and cleans every answer. `subject` says what it is about.
 */
export function serveDesk<Name extends DeskCallName>(
  app: FastifyInstance,
  deps: Deps & { deskUrl: string },
  name: Name,
  handler: (context: DeskContext<Name>) => Promise<DeskData<Name>> | DeskData<Name>,
  subject?: (context: DeskContext<Name>) => string,
): void {
  const { method, path, role } = deskCalls[name];
  const isFile = 'file' in deskCalls[name];
  const isNoted = isFile || (method === 'POST' && !('query' in deskCalls[name]));
  const shape = deskSchemas[name] as { params?: ZodType; query?: ZodType; body?: ZodType; data: ZodType };
  app.route({
    method,
    url: path.replace(/\{(\w+)\}/g, ':$1'),
    schema: {
      ...(shape.params ? { params: shape.params } : {}),
      ...(shape.query ? { querystring: shape.query } : {}),
      ...(shape.body ? { body: shape.body } : {}),
      response: { ...(isFile ? {} : { 200: success(shape.data) }), ...failures, 409: changedFailure },
    },
    // Before the body is read: a stranger's is not looked at.
    onRequest: async (request) => {
      if (method === 'POST') refuseForeign(request, deps.deskUrl);
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
      const isRecorded = isNoted && (body as { trial?: boolean } | undefined)?.trial !== true;
      const note = (outcome: 'done' | 'refused' | 'failed') =>
        noteEvent(deps, { staff: request.staff, action: name, subject: subject?.(context), outcome });
      try {
        const data = await handler(context);
        if (isRecorded) await note('done');
        if (isFile) return sendFile(reply, data as DeskData<'getCertificate'>);
        return { success: true, status: 'success', data: withoutControls(data) };
      } catch (error) {
        if (isRecorded) await note(error instanceof Refusal ? 'refused' : 'failed');
        throw error;
      }
    },
  });
}

/** Sends a file to be saved. A browser that shows it nevertheless runs nothing in it. */
function sendFile(reply: FastifyReply, { bytes, type, name }: DeskData<'getCertificate'>): FastifyReply {
  return reply
    .headers({
      'content-type': type,
      'content-disposition': `attachment; filename="${name}"`,
      'content-security-policy': 'sandbox',
    })
    .send(Buffer.from(bytes));
}

/** Returns an answer without the characters that change how the text around them looks: names and the like are from outside. */
function withoutControls<T>(data: T): T {
  if (typeof data === 'string') return plainLines(data) as T;
  if (Array.isArray(data)) return data.map(withoutControls) as T;
  if (data === null || typeof data !== 'object') return data;
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, withoutControls(value)])) as T;
}

/** A page of another origin cannot set these headers. */
function refuseForeign({ headers }: FastifyRequest, deskUrl: string): void {
  if (headers.origin !== deskUrl || headers['sec-fetch-site'] !== 'same-origin')
    throw new Refusal(403, FOREIGN);
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is signed in at the desk; null if nobody is. */
    staff: Staff | null;
  }
}
