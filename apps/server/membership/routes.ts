import { create as contentDisposition } from 'content-disposition';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type DownloadName, downloads } from '#contract/calls.ts';
import { papers } from '#core/paper.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { serve } from '../platform/http/routes.ts';
import type { Deps } from './deps.ts';
import { certificateOf, type Member, pressReleaseOf, readMember, unprintable } from './member.ts';
import { paperProblem, programmeProblem } from './paperProblem.ts';
import { releaseText } from './pressRelease.ts';
import { setVerification } from './setVerification.ts';
import { verifyNumber } from './verifyNumber.ts';

const params = z.object({ uuid: z.uuid().toLowerCase() });
const querystring = z.object({ paper: z.enum(papers).optional() });
type Asked = FastifyRequest<{ Params: z.output<typeof params>; Querystring: z.output<typeof querystring> }>;

export function membershipRoutes(app: FastifyInstance, deps: Deps): void {
  serve(app, deps, 'getPressRelease', async ({ params, holding }) => {
    const member = await readMember(deps, params.uuid, { holding });
    const problem = programmeProblem(deps, member);
    if (problem !== null) throw new Refusal(409, problem);
    return { data: { text: releaseText(pressReleaseOf(deps, member)) } };
  });
  serve(app, deps, 'setVerification', async ({ params, body, holding }) => ({
    data: await setVerification(deps, params.uuid, { ...body, holding }),
  }));
  serve(app, deps, 'verifyNumber', async ({ params: { number }, request }) => ({
    data: await verifyNumber(deps, { typed: number, address: request.ip }),
  }));
  download('certificate', async (member, paper) => ({
    ...pdf(member, 'Certificate'),
    body: await deps.printer.print({ kind: 'certificate', certificate: certificateOf(deps, member), paper }),
  }));
  download('pressRelease', async (member, paper) => {
    const given = [member.school, member.city, member.state].filter((text) => text !== null);
    const missing = new Set(await unprintable(deps, given.join(' ')));
    const isPrintable = (text: string) => ![...text].some((character) => missing.has(character));
    const release = pressReleaseOf(deps, member, isPrintable);
    return {
      ...pdf(member, 'Press release'),
      body: await deps.printer.print({ kind: 'pressRelease', release, paper }),
    };
  });
  download('certificatePicture', async (member) => ({
    type: 'image/svg+xml',
    disposition: 'inline',
    body: await deps.printer.print({ kind: 'picture', certificate: certificateOf(deps, member) }),
  }));

  /** Registers the route of a download, with its path from the contract. Refusals are answered like those of API calls. */
  function download(
    name: DownloadName,
    print: (member: Member, paper: Member['paper']) => Promise<Printed>,
  ): void {
    app.get(
      downloads[name].replace('{uuid}', ':uuid'),
      { schema: { operationId: name, params, querystring } },
      async (request: Asked, reply: FastifyReply) => {
        const { uuid } = request.params;
        // The welcome page loads the picture each time, which must not count towards the limit on printing papers.
        const counted = name === 'certificatePicture' ? 'picture' : 'papers';
        const member = await readMember(deps, uuid, {
          holding: deps.browser.holdingOf(request, uuid),
          counted,
        });
        const problem = await paperProblem(deps, member);
        if (problem !== null) throw new Refusal(409, problem);
        const { type, disposition, body } = await print(member, request.query.paper ?? member.paper);
        return reply
          .type(type)
          .header('content-disposition', disposition)
          .send(typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength));
      },
    );
  }
}

interface Printed {
  type: string;
  disposition: string;
  body: string | Uint8Array;
}

function pdf({ name }: Member, title: string): Omit<Printed, 'body'> {
  return { type: 'application/pdf', disposition: contentDisposition(`${title} - ${name}.pdf`) };
}
