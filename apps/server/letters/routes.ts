import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { stopRemindersPath } from '#core/navigation.ts';
import { countingWithin, TOO_MANY } from '../platform/http/limits.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { serve } from '../platform/http/routes.ts';
import type { Deps } from './deps.ts';
import { stopReminders } from './remind.ts';
import { ONE_CLICK_PATH } from './stopLinks.ts';

/** Anybody with the link in a reminder may stop reminders to the recipient's email or allow them again; no cookie is needed. */
export function letterRoutes(app: FastifyInstance, deps: Deps): void {
  serve(app, deps, 'getReminders', async ({ params }) => {
    const hash = deps.stopLinks.read(params.token);
    const { rows } = await sql`select from reminder_stop where email_hash = ${hash}`.execute(deps.database);
    return { data: { areStopped: rows.length > 0 } };
  });
  serve(app, deps, 'setReminders', async ({ params, body, request }) => {
    await setReminders(deps, { token: params.token, address: request.ip, ...body });
    return { data: body };
  });
  void app.register(async (oneClick) => {
    // The body is `List-Unsubscribe=One-Click` in one of two form encodings, or empty. It is ignored, because the token in the
    // link suffices.
    oneClick.removeAllContentTypeParsers();
    oneClick.addContentTypeParser('*', { parseAs: 'string' }, (_, __, done) => done(null));
    const hidden = { schema: { hide: true } };
    oneClick.post<{ Params: { token: string } }>(
      `${ONE_CLICK_PATH}/:token`,
      hidden,
      async (request, reply) => {
        await setReminders(deps, { token: request.params.token, address: request.ip, areStopped: true });
        return reply.type('text/plain').send('No more reminders go to this address.\n');
      },
    );
    oneClick.get<{ Params: { token: string } }>(`${ONE_CLICK_PATH}/:token`, hidden, (request, reply) =>
      reply.redirect(deps.config.publicUrl + stopRemindersPath(request.params.token)),
    );
  });
}

async function setReminders(
  { database, config, hashAddress, stopLinks }: Deps,
  { token, address, areStopped }: { token: string; address: string; areStopped: boolean },
): Promise<void> {
  const hash = stopLinks.read(token);
  const limit = config.limits?.reminderStopsPerAddress;
  const { rows } = await sql<{ is_within: boolean }>`
    with ${countingWithin('reminder stops', hashAddress(address), limit)}, changed as (
      ${stopReminders(hash, areStopped, sql`(select is_within from within)`)}
    )
    select is_within from within`.execute(database);
  if (!rows[0]!.is_within) throw new Refusal(429, TOO_MANY, { retryAfter: (limit?.minutes ?? 1) * 60 });
}
