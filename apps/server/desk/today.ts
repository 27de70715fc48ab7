import type { DeskData } from '#contract/deskSchemas.ts';
import { deskOffers } from '#core/deskOffers.ts';
import { noticeSentence } from '#core/noticeSentence.ts';
import { lastReconciliations } from '../books/reconcile.ts';
import { countOverdue, countWaiting, type Waits } from '../documents/review.ts';
import { countJoins } from '../joining/countJoins.ts';
import { doneNotices, type ReadNotice, readNotices } from '../letters/readNotices.ts';
import { waitingParcels } from '../membership/orders.ts';
import { openRequests } from '../paying/refunds/readRequests.ts';
import { nameJoins } from '../people/nameJoins.ts';
import { mailServer } from '../platform/metrics.ts';
import { type Figure, readFigures } from '../running/gauges.ts';
import type { Deps } from './deps.ts';
import { noticeOffers } from './problems.ts';
import { readPlaces } from './readPlaces.ts';
import { withoutUuids } from './withoutUuids.ts';

/** The number up to which a queue is counted if each of its entries must be checked. */
const MOST_COUNTED = 1_000;
const MOST_NOTICES = 200;
const DAY_MS = 86_400_000;
/** A provider is in trouble if it has refused a call within this time (ms). */
const TROUBLE_MS = 3_600_000;

type Today = DeskData<'getToday'>;

/** Returns the queues of work for staff, the notices, and the state of the providers. */
export async function readToday(deps: Deps): Promise<Today> {
  const { database } = deps;
  const now = deps.now().getTime();
  const [transcripts, proofs, { parcels }, asked, figures, [reconciled], notices, week] = await Promise.all([
    countWaiting(deps, MOST_COUNTED),
    countOverdue(deps, MOST_COUNTED),
    waitingParcels(deps, 'open', { most: MOST_COUNTED, after: null, isBare: true }),
    openRequests(database, MOST_COUNTED),
    readFigures(deps),
    lastReconciliations(database, 1),
    readNotices(deps, { since: new Date(0) }, MOST_NOTICES),
    countJoins(deps, new Date(now - 7 * DAY_MS)),
  ]);
  const differences = reconciled?.differences.length ?? 0;
  const queue = (name: Today['queues'][number]['name'], { count, since }: Waits) => ({
    name,
    count,
    oldest: since?.toISOString() ?? null,
  });
  const each = (since: readonly Date[]): Waits => ({ count: since.length, since: since[0] ?? null });
  const figure = (name: Today['queues'][number]['name'], kind: Figure['kind'], wanted: string) => {
    const { value = 0, since = null } = figureOf(figures, kind, wanted) ?? {};
    return queue(name, { count: value, since });
  };
  return {
    queues: [
      queue('transcripts', transcripts),
      queue('proof', proofs),
      queue('parcels', each(parcels.map(({ paidAt }) => paidAt))),
      figure('letters', 'number', 'letters refused'),
      figure('hubspot', 'number', 'HubSpot refused'),
      queue('refundsAsked', each(asked)),
      figure('refunds', 'queue', 'refunds'),
      {
        name: 'differences',
        count: differences,
        oldest: differences > 0 ? reconciled!.finished_at.toISOString() : null,
      },
    ],
    notices: await noticesShown(deps, notices),
    providers: providersOf(deps, figures, notices, now),
    reconciled: reconciled ? { at: reconciled.finished_at.toISOString(), differences } : null,
    week,
  };
}

function figureOf(figures: readonly Figure[], kind: Figure['kind'], name: string): Figure | undefined {
  return figures.find((figure) => figure.kind === kind && figure.name === name);
}

/** Returns the notices that staff have ended. */
export async function readDoneNotices(deps: Deps): Promise<DeskData<'getDoneNotices'>['notices']> {
  const notices = await doneNotices(deps, MOST_NOTICES);
  return (await noticesShown(deps, notices)).map((notice, index) => {
    const { doneAt, doneBy, isOpenAgain } = notices[index]!;
    return { ...notice, doneAt: doneAt.toISOString(), doneBy, isOpenAgain };
  });
}

async function noticesShown(deps: Deps, notices: readonly ReadNotice[]): Promise<Today['notices']> {
  const texts = await withoutUuids(
    deps,
    notices.map((notice) => noticeSentence(notice, (uuid) => uuid)),
  );
  const joins = await nameJoins(
    deps,
    notices.flatMap(({ subject }) => (subject === null ? [] : [subject])),
  );
  const places = await readPlaces(
    deps,
    notices.map(({ remedy }) => remedy),
  );
  return notices.map((notice, index) => {
    const { id, subject, count, createdAt, lastSeenAt } = notice;
    const join = subject === null ? undefined : joins.get(subject);
    return {
      id,
      text: texts[index]!,
      person: join ? { id: join.personId, name: join.name } : null,
      count,
      since: createdAt.toISOString(),
      last: lastSeenAt.toISOString(),
      ...noticeOffers(notice, join?.personId ?? null, (remedy) => deskOffers(remedy, places)),
    };
  });
}

/**
 * Returns which providers are in trouble, and since when. All of them are in trouble while they refuse our calls, HubSpot also
 * while calls to it are paused, and mail also while letters wait for its server. If HubSpot only refuses the data of some joins,
 * it is not in trouble.
 */
function providersOf(
  { config }: Pick<Deps, 'config'>,
  figures: readonly Figure[],
  notices: readonly ReadNotice[],
  now: number,
): Today['providers'] {
  const waiting = (name: string) => figureOf(figures, 'queue', name)?.since?.getTime() ?? now;
  const refusedSince = (provider: 'Stripe' | 'HubSpot' | 'Mail') =>
    notices.flatMap(({ kind, params, remedy, createdAt, lastSeenAt }) =>
      kind === 'provider_trouble' &&
      params.provider === provider &&
      remedy?.do !== 'look at what HubSpot refuses' &&
      lastSeenAt.getTime() > now - TROUBLE_MS
        ? [createdAt.getTime()]
        : [],
    );
  const isLeftAlone = figures.some(({ kind, value }) => kind === 'breaker' && value === 1);
  const isMailDown = mailServer.isDown && (figureOf(figures, 'queue', 'letters')?.value ?? 0) > 0;
  const troubles = {
    stripe: refusedSince('Stripe'),
    hubspot: [...refusedSince('HubSpot'), ...(isLeftAlone ? [waiting('crm')] : [])],
    mail: [...refusedSince('Mail'), ...(isMailDown ? [waiting('letters')] : [])],
  };
  const names = ['stripe', 'hubspot', ...(config.mail === null ? [] : (['mail'] as const))] as const;
  return names.map((name) => ({
    name,
    troubleSince: troubles[name].length === 0 ? null : new Date(Math.min(...troubles[name])).toISOString(),
  }));
}
