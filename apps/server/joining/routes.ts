import type { FastifyInstance, FastifyReply } from 'fastify';
import { DETAILS_SUBMITTED } from '#core/sentences.ts';
import type { Deps } from '../deps.ts';
import { serve } from '../platform/http/routes.ts';
import { getContact } from './getContact.ts';
import { openJoin } from './openJoin.ts';
import {
  type StartedJoin,
  startInvitedJoin,
  startLinkedJoin,
  startSchoolJoin,
  startSelfNomination,
} from './startJoin.ts';
import { submitDetails } from './submitDetails.ts';

export function joinRoutes(app: FastifyInstance, deps: Deps): void {
  const started = ({ uuid, programme }: StartedJoin, reply: FastifyReply) => {
    deps.browser.giveBegan(reply, uuid);
    return { data: { uuid, programme, message: 'Your join has started.' } };
  };

  serve(app, 'initiateJoin', async ({ body, request, reply }) =>
    started(
      await startInvitedJoin(deps, {
        ...body,
        address: request.ip,
        joinsOfBrowser: body.startOver ? [] : deps.browser.joinsOf(request),
      }),
      reply,
    ),
  );
  serve(app, 'initiateSchoolJoin', async ({ body, request, reply }) =>
    started(await startSchoolJoin(deps, { ...body, address: request.ip }), reply),
  );
  serve(app, 'initiateSelfNomination', async ({ body, request, reply }) =>
    started(await startSelfNomination(deps, { ...body, address: request.ip }), reply),
  );
  serve(app, 'initJoin', async ({ params, body, request, reply }) =>
    started(
      await startLinkedJoin(deps, {
        contactId: params.id,
        signature: body ?? {},
        address: request.ip,
        joinsOfBrowser: deps.browser.joinsOf(request),
      }),
      reply,
    ),
  );
  serve(app, 'getOpenJoin', async ({ params, request }) => ({
    data: await openJoin(deps, params.uuid, deps.browser.holdingOf(request, params.uuid)),
  }));
  serve(app, 'getContact', async ({ params, request }) => ({
    data: await getContact(deps, params.uuid, deps.browser.holdingOf(request, params.uuid)),
  }));
  serve(app, 'submitDetails', async ({ params, body, request }) => {
    await submitDetails(deps, params.uuid, deps.browser.holdingOf(request, params.uuid), body);
    return { data: {}, message: DETAILS_SUBMITTED };
  });
}
