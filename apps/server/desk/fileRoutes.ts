import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { addTranscriptOf } from '../documents/addTranscript.ts';
import { certificateForStaff, whyNoCertificate } from '../membership/certificateForStaff.ts';
import { Refusal } from '../platform/http/refusal.ts';
import type { Deps } from './deps.ts';
import { joinOf } from './joinOf.ts';
import { serveDesk } from './serve.ts';

const NO_FILE = 'Choose a file.';

/** Serves the calls that upload and download files. */
export function fileRoutes(app: FastifyInstance, deps: Deps & { deskUrl: string }): void {
  // The body is passed on as a stream; the handler reads it.
  app.addContentTypeParser('application/octet-stream', (_, body, done) => done(null, body));

  serveDesk(
    app,
    deps,
    'getCertificate',
    async ({ params, query: { join, name = '', paper = null } }) => {
      const uuid = await joinOf(deps, params, join);
      const made = await certificateForStaff(deps, uuid, { name: name || null, paper });
      if (made.is !== 'made') {
        const { societyFile } = deps.config;
        throw new Refusal(409, whyNoCertificate(made, { join: `join ${join}`, societyFile, how: '' }));
      }
      return { bytes: Buffer.from(made.bytes), name: 'certificate.pdf' };
    },
    ({ params }) => params.id,
  );

  serveDesk(
    app,
    deps,
    'addTranscript',
    async ({ staff, params, query, request }) => {
      const { body } = request;
      if (!(body instanceof Readable)) throw new Refusal(415, NO_FILE);
      try {
        const uuid = await joinOf(deps, params, query.join);
        const length = Number(request.headers['content-length'] ?? Number.NaN);
        const { file } = await addTranscriptOf({ ...deps, actor: staff.name }, uuid, {
          name: query.name,
          expectedBytes: Number.isNaN(length) ? null : length,
          open: async () => body,
        });
        return { name: file.name };
      } catch (error) {
        // A browser reads the answer only after it has sent the whole body. The rest of the body is therefore received and
        // dropped.
        request.raw.unpipe();
        request.raw.resume();
        if (!(error instanceof Refusal) || error.status === 404) throw error;
        throw new Refusal(error.status, `Nothing is added. Its joiner would read: ${error.message}`);
      }
    },
    ({ params }) => params.id,
  );
}
