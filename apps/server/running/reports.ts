import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { z } from 'zod';
import { REPORTS_PATH } from '#contract/calls.ts';
import { type ScreenName, screenAt, screenTitles } from '#core/navigation.ts';
import type { Remedy } from '#core/remedy.ts';
import type { Database } from '../platform/database/client.ts';
import { countWithin } from '../platform/http/limits.ts';
import { browserReports } from '../platform/metrics.ts';
import type { Deps } from './deps.ts';

/**
 * The maximum number of bytes in a request's body, and of reports that are read from it. Chromium sends up to a hundred reports
 * at once, each with the page's policy.
 */
const REPORT_BYTES = 131_072;
const REPORTS_AT_ONCE = 100;
/** The maximum number of kinds of reports that are counted from one body. */
const KINDS_AT_ONCE = 20;
/**
 * The maximum number of kinds that are stored. A new kind replaces the kind with the lowest count. Real kinds have high counts,
 * so kinds that somebody invents do not displace them.
 */
const KINDS = 100;
/** The maximum number of notices to staff in a day about new kinds of blocked content, and as many about new kinds of faults. */
export const NOTICES_A_DAY = 20;
/** If no report of a kind arrives for this many days, the kind counts as new when it is reported again. */
const KEPT_DAYS = 90;

/** Content that a browser blocked on one of our pages, or a fault that a page reported about itself. */
export interface Reported {
  /** The kind of the notices about it. */
  kind: 'blocked' | 'broken';
  /** The directive of the content security policy, such as `script-src-elem`. For a fault: `fault-` and the fault's kind. */
  directive: string;
  /**
   * The origin of the blocked content, its scheme if it has no origin, or a keyword such as `inline` or `eval`. Never a path or
   * query. For a fault: the error's name and its position in our scripts, never its message.
   */
  blocked: string;
  /** The name of the page's screen. Never its URL, which may contain a secret. */
  page: string;
}

const text = z.string().max(8192).catch('');
/**
 * The schemas of report bodies. Browsers send one format to a `report-to` endpoint and another format to a `report-uri`, with
 * different names for the same fields (Content Security Policy Level 3).
 */
const reportTo = z.array(z.unknown());
const sentTo = z.object({
  type: z.literal('csp-violation'),
  body: z.object({
    documentURL: text,
    blockedURL: text,
    effectiveDirective: text,
    sourceFile: text.nullish(),
  }),
});
const sentToUri = z.object({
  'csp-report': z.object({
    'document-uri': text,
    'blocked-uri': text,
    'effective-directive': text.optional(),
    'violated-directive': text.optional(),
    'source-file': text.nullish(),
  }),
});

/** The report that a page of ours sends when it breaks (apps/web/lib/reportFault.ts). */
const ofPage = z.object({
  fault: z.object({
    kind: z.enum(['router', 'chunk', 'recovered', 'uncaught']),
    error: z.string().regex(/^[A-Za-z]{1,40}( #\d{1,5})?$/),
    at: z.string().regex(/^([\w./-]{1,100}\.js:\d{1,9}:\d{1,9})?$/),
    screen: z.enum([...(Object.keys(screenTitles) as ScreenName[]), 'other']),
  }),
});

/**
 * Returns the violations or the fault that a report's body contains. Leaves out other types of reports, and content of browser
 * extensions.
 */
export function readReports(body: unknown): Reported[] {
  const broken = ofPage.safeParse(body);
  if (broken.success) {
    const { kind, error, at, screen } = broken.data.fault;
    const blocked = at ? `${error} at ${at}` : error;
    return [{ kind: 'broken', directive: `fault-${kind}`, blocked, page: screen }];
  }
  const alone = sentToUri.safeParse(body);
  if (alone.success) {
    const report = alone.data['csp-report'];
    const directive = report['effective-directive'] || report['violated-directive'] || '';
    return blockedIn(report['document-uri'], report['blocked-uri'], directive, report['source-file']);
  }
  return (reportTo.safeParse(body).data ?? []).slice(0, REPORTS_AT_ONCE).flatMap((given) => {
    const { data } = sentTo.safeParse(given);
    if (!data) return [];
    const { documentURL, blockedURL, effectiveDirective, sourceFile } = data.body;
    return blockedIn(documentURL, blockedURL, effectiveDirective, sourceFile);
  });
}

const EXTENSION = /^[a-z-]*-extension(:|$)/;

function blockedIn(document: string, address: string, given: string, source?: string | null): Reported[] {
  const directive = given.split(' ', 1)[0]!;
  if (!/^[a-z-]{3,40}$/.test(directive) || !URL.canParse(document)) return [];
  if (EXTENSION.test(address) || EXTENSION.test(source ?? '')) return [];
  return [
    {
      kind: 'blocked',
      directive,
      blocked: originOf(address),
      page: screenAt(new URL(document).pathname) ?? 'other',
    },
  ];
}

function originOf(address: string): string {
  if (/^[a-z-]{1,40}$/.test(address)) return address;
  if (!URL.canParse(address)) return 'other';
  const { origin, protocol } = new URL(address);
  return origin === 'null' ? protocol.slice(0, 30) : origin.slice(0, 200);
}

/**
 * Serves the path to which browsers and our pages send reports. Anybody can send them, so their size and their number from each
 * address are limited. The answer is empty. Only a count for each kind is stored, and nothing about the sender.
 */
export async function reportRoutes(app: FastifyInstance, { deps }: { deps: Deps }): Promise<void> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    ['application/csp-report', 'application/reports+json', 'application/json'],
    { parseAs: 'string', bodyLimit: REPORT_BYTES },
    (_, body, done) => done(null, body),
  );
  app.post(REPORTS_PATH, { schema: { hide: true } }, async (request, reply) => {
    const reported = readReports(parsed(request.body as string));
    const limit = deps.config.limits?.reportsPerAddress;
    if (
      reported.length > 0 &&
      (!limit || (await countWithin(deps.database, 'report', deps.hashAddress(request.ip), limit)))
    )
      for (const each of kindsIn(reported)) await count(deps.database, each);
    return reply.status(204).send();
  });
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

/** Returns one report of each kind: a browser that blocks the same content ten times on a page sends ten reports. */
function kindsIn(reported: Reported[]): Reported[] {
  const kinds = new Map(reported.map((report) => [`${report.directive} ${report.blocked}`, report]));
  return [...kinds.values()].slice(0, KINDS_AT_ONCE);
}

/** Counts a report of a kind and, if the kind is new, writes a notice for staff, in one statement. */
async function count(database: Database, reported: Reported): Promise<void> {
  const { kind, directive, blocked, page } = reported;
  browserReports.inc({ kind });
  await sql`
    with known as (
      select from browser_report where directive = ${directive} and blocked = ${blocked}
    ), least as (
      select directive, blocked from browser_report
      where not exists (select from known) and (select count(*) from browser_report) >= ${KINDS}
      order by count, last_seen_at limit 1
    ), forgotten as (
      delete from browser_report where (directive, blocked) in (select directive, blocked from least)
        or last_seen_at < now() - make_interval(days => ${KEPT_DAYS}) and (directive, blocked) <> (${directive}, ${blocked})
    ), counted as (
      insert into browser_report as known (directive, blocked, page)
      values (${directive}, ${blocked}, ${page})
      on conflict (directive, blocked) do update set page = excluded.page, last_seen_at = now(),
        count = case when known.last_seen_at < now() - make_interval(days => ${KEPT_DAYS}) then 1 else known.count + 1 end
      returning count
    ), told as (
      select count(*) as today from staff_notice where kind = ${kind} and created_at > now() - interval '1 day'
    )
    insert into staff_notice (kind, params, remedy)
    select ${kind}, ${JSON.stringify({ blocked, directive, page })}::jsonb || jsonb_build_object('isLast', today = ${NOTICES_A_DAY - 1}),
      case when today = ${NOTICES_A_DAY - 1} then ${JSON.stringify({ do: 'look at reports' } satisfies Remedy)}::jsonb end
    from counted, told where count = 1 and today < ${NOTICES_A_DAY} on conflict do nothing`.execute(database);
}

/** Returns a line for each stored kind of report, the most frequent first. */
export async function reportedKinds(database: Database): Promise<string[]> {
  const kinds = await database
    .selectFrom('browser_report')
    .selectAll()
    .orderBy('count', 'desc')
    .orderBy('directive')
    .orderBy('blocked')
    .execute();
  return kinds.map(
    ({ directive, blocked, page, count, first_seen_at, last_seen_at }) =>
      `${count} × ${blocked} (${directive}, ${page}) since ${first_seen_at.toISOString().slice(0, 10)}, last ${last_seen_at.toISOString().slice(0, 16)}Z`,
  );
}
