import type { FastifyInstance, FastifyReply } from 'fastify';
import { DETAILS_SUBMITTED } from '#core/sentences.ts';
import { serve } from '../platform/http/routes.ts';
import { deleteSessionProduct, setCustomDonation, setSessionProduct } from './changeOrder.ts';
import { checkEligibility } from './checkEligibility.ts';
import { checkInvitation } from './checkInvitation.ts';
import { checkoutDetails } from './checkoutDetails.ts';
import type { Deps } from './deps.ts';
import { getContact } from './getContact.ts';
import { initiateCheckout } from './initiateCheckout.ts';
import { membershipDetails } from './membershipDetails.ts';
import { openJoin } from './openJoin.ts';
import { readWelcome } from './readWelcome.ts';
import { setMembership } from './setMembership.ts';
import {
  type StartedJoin,
  startInvitedJoin,
  startLinkedJoin,
  startSchoolJoin,
  startSelfNomination,
} from './startJoin.ts';
import { submitDetails } from './submitDetails.ts';

export function joiningRoutes(app: FastifyInstance, deps: Deps): void {
  const started = ({ uuid, programme }: StartedJoin, reply: FastifyReply) => {
    deps.browser.giveBegan(reply, uuid);
    return { data: { uuid, programme, message: 'Your registration has started.' } };
  };

  serve(app, deps, 'checkEligibility', async ({ body, request }) => ({
    data: await checkEligibility(deps, { invitationCode: body.invitationCode, address: request.ip }),
  }));
  serve(app, deps, 'checkInvitation', async ({ body, request }) => ({
    data: await checkInvitation(deps, { text: body.text, address: request.ip }),
  }));
  serve(app, deps, 'initiateJoin', async ({ body, request, reply }) =>
    started(
      await startInvitedJoin(deps, {
        ...body,
        address: request.ip,
        joinsOfBrowser: body.startOver ? [] : deps.browser.joinsOf(request),
      }),
      reply,
    ),
  );
  serve(app, deps, 'initiateSchoolJoin', async ({ body, request, reply }) =>
    started(await startSchoolJoin(deps, { ...body, address: request.ip }), reply),
  );
  serve(app, deps, 'initiateSelfNomination', async ({ body, request, reply }) =>
    started(await startSelfNomination(deps, { ...body, address: request.ip }), reply),
  );
  serve(app, deps, 'initJoin', async ({ params, body, request, reply }) =>
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
  serve(app, deps, 'initiateCheckout', async ({ body, request, reply }) => {
    const { exp, sig, ...rest } = body;
    const signature = { exp, sig };
    const { uuid, programme } = await initiateCheckout(deps, { ...rest, signature, address: request.ip });
    deps.browser.giveBegan(reply, uuid);
    return { data: { joinSessionUuid: uuid, programme, message: 'Your checkout is ready.' } };
  });
  serve(app, deps, 'getOpenJoin', async ({ params, holding }) => ({
    data: await openJoin(deps, params.uuid, holding),
  }));
  serve(app, deps, 'getContact', async ({ params, holding }) => ({
    data: await getContact(deps, params.uuid, holding),
  }));
  serve(app, deps, 'submitDetails', async ({ params, body, holding }) => {
    await submitDetails(deps, params.uuid, holding, body);
    return { data: {}, message: DETAILS_SUBMITTED };
  });
  serve(app, deps, 'getMembershipDetails', async ({ params, holding }) => ({
    data: await membershipDetails(deps, params.uuid, holding),
  }));
  serve(app, deps, 'setMembership', async ({ params, body, holding }) => {
    await setMembership(deps, params.uuid, holding, body);
    return { data: { status: 'success' as const } };
  });
  serve(app, deps, 'getCheckoutDetails', async ({ params, holding }) => ({
    data: await checkoutDetails(deps, params.uuid, holding),
  }));
  serve(app, deps, 'setSessionProduct', async ({ params, body, holding }) => ({
    data: await setSessionProduct(deps, params.uuid, holding, body),
  }));
  serve(app, deps, 'setCustomDonation', async ({ params, body, holding }) => ({
    data: await setCustomDonation(deps, params.uuid, holding, body.amount),
  }));
  serve(app, deps, 'deleteSessionProduct', async ({ params, request }) => {
    await deleteSessionProduct(deps, params.sessionProductUuid, (uuid) =>
      deps.browser.holdingOf(request, uuid),
    );
    return { data: { status: 'success' as const } };
  });
  serve(app, deps, 'getWelcome', async ({ params, holding }) => ({
    data: await readWelcome(deps, params.uuid, holding),
  }));
}
