import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { MOST_FILE_BYTES, MOST_MADE } from '#contract/deskLimits.ts';
import type { DeskData } from '#contract/deskSchemas.ts';
import { checkImport } from '../joining/invitations/checkImport.ts';
import { faultOf, pastFault } from '../joining/invitations/importInvitations.ts';
import { type PartKind, partsOf } from '../joining/invitations/importParts.ts';
import {
  beginImport,
  type Import,
  type ImportCounts,
  latestImports,
  type MintOrder,
  orderCodes,
  readImport,
  receiveFile,
  TOO_LARGE,
} from '../joining/invitations/imports.ts';
import { Failed } from '../platform/failed.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { NotCsv } from '../platform/readCsv.ts';
import { dateOf, dayOf, minuteOf } from '../society/texts.ts';
import type { Deps } from './deps.ts';
import type { Staff } from './links.ts';
import { type DeskFile, serveDesk } from './serve.ts';
import { serveAction } from './serveAction.ts';

export const NO_IMPORT = 'There is no such file.';
const NOT_KEPT = 'There are no such lines any more: they are kept for a day.';
const NOT_CSV = 'Send the file as text/csv.';
const NOTHING_NEW = 'Nothing of this file is new or changed.';
const NO_COUNT = `Please enter how many codes to make, ${MOST_MADE.toLocaleString('en-US')} at most.`;
const LEADS_NOWHERE =
  'Codes without a school or contacts cannot be imported, since they lead nowhere yet. Download them, fill in the file, and upload it.';
const LATEST = 20;

interface MintOptions {
  programme?: string | undefined;
  lastDay?: string | undefined;
}

/** Serves the calls about invitation files and minted codes. */
export function importRoutes(app: FastifyInstance, deps: Deps & { deskUrl: string }): void {
  const about = ({ params }: { params: { id: string } }) => `import ${params.id}`;
  const begun = (_: unknown, answer: object | null) =>
    answer && 'id' in answer ? `import ${answer.id}` : undefined;

  serveDesk(app, deps, 'getImports', async () => ({
    imports: (await latestImports(deps.database, LATEST)).map(importAnswer),
  }));

  serveDesk(app, deps, 'getImport', async ({ params }) =>
    importAnswer(await requireImport(deps, Number(params.id))),
  );

  serveDesk(
    app,
    deps,
    'uploadInvitations',
    async ({ staff, query: { name, campaign }, request }) => ({
      id: await receiveFile(
        { ...deps, actor: (staff as Staff).name },
        { fileName: name, campaign: campaign || null, mint: null },
        bodyOf(request),
      ),
    }),
    begun,
  );

  serveDesk(
    app,
    deps,
    'uploadContacts',
    async ({ staff, query, request }) => {
      const mint = { ...mintOf(deps, query), count: null, school: null, imports: query.imports === 'yes' };
      return {
        id: await receiveFile(
          { ...deps, actor: (staff as Staff).name },
          { fileName: query.name, campaign: query.campaign || null, mint },
          bodyOf(request),
        ),
      };
    },
    begun,
  );

  serveAction(
    app,
    deps,
    'importInvitations',
    {
      async preview({ deps, params }) {
        const file = await requireImport(deps, Number(params.id));
        if (file.state !== 'checked' || file.isEmptied)
          throw new Failed('This file does not wait to be imported.');
        const { campaign } = file;
        const { counts, doubts, isOfNow } = await lookAgain(deps, file);
        const { added = 0, changed = 0, unchanged = 0, refused } = counts;
        if (added + changed === 0) throw new Failed(NOTHING_NEW);
        return {
          lines: [
            `${words(added)} new, ${words(changed)} changed, ${words(unchanged)} unchanged, ${words(refused)} refused.`,
            ...(isOfNow ? [] : [checkedAt(deps, file.workedAt!)]),
            ...(campaign === null ? [] : [`They belong to the campaign ${campaign}.`]),
            ...(refused === 0 ? [] : ['The refused lines are left out.']),
            'Codes that were withdrawn stay so.',
            ...doubts.map((doubt) => doubt.charAt(0).toUpperCase() + doubt.slice(1)),
          ],
          verb: `Import ${words(added + changed)} ${added + changed === 1 ? 'invitation' : 'invitations'}`,
          seen: null,
        };
      },
      async act({ deps, params }) {
        const fault = await beginImport(deps.database, Number(params.id));
        if (fault !== null) throw new Failed(fault);
        return { lines: [] };
      },
    },
    about,
  );

  serveAction(
    app,
    deps,
    'makeCodes',
    {
      async preview({ deps, body }) {
        const mint = orderOf(deps, body);
        const { count, school, imports } = mint;
        const what = `${words(count!)} ${count === 1 ? 'code' : 'codes'}`;
        return {
          lines: [
            school === null
              ? `${what} to be filled in: each needs a contact or a school before it is imported.`
              : `${what} for ${school}. Each works as often as anybody likes.`,
            ...(mint.expiresAt === null ? [] : [`The last day is ${mint.expiresAt}.`]),
            imports ? 'They are imported at once.' : 'They open nothing before they are imported.',
          ],
          verb: `Make ${what}`,
          seen: mint,
        };
      },
      async act({ deps, body }, mint) {
        return {
          lines: [],
          id: await orderCodes(deps, { campaign: body.campaign || null, mint, once: body.once }),
        };
      },
    },
    begun,
  );

  serveDesk(app, deps, 'getRefusedLines', ({ params }) => fileOf(deps, params.id, 'refused'), about);

  serveDesk(app, deps, 'getMadeCodes', ({ params }) => fileOf(deps, params.id, 'made'), about);
}

const words = (count: number) => count.toLocaleString('en-US');

async function requireImport({ database }: Pick<Deps, 'database'>, id: number): Promise<Import> {
  const found = await readImport(database, id);
  if (!found) throw new Refusal(404, NO_IMPORT);
  return found;
}

/** The largest file (bytes) that is checked again just before its import. This takes only seconds. */
const RECHECKED_BYTES = 500_000;

/**
 * Returns what the import of a file would do. A small file is checked again now. For a large file, returns the result of its
 * earlier check (`isOfNow` is false).
 */
async function lookAgain(
  deps: Deps,
  file: Import,
): Promise<{ counts: ImportCounts; doubts: string[]; isOfNow: boolean }> {
  if (file.sizeBytes > RECHECKED_BYTES)
    return { counts: file.counts!, doubts: file.doubts ?? [], isOfNow: false };
  try {
    return { ...(await checkImport(deps, file)), isOfNow: true };
  } catch (error) {
    throw error instanceof NotCsv ? new Failed(error.message) : error;
  }
}

function checkedAt({ society }: Deps, at: Date): string {
  return `So it was when the file was checked, on ${dateOf(society, at)} at ${minuteOf(society, at)}. What has changed since then may change the numbers.`;
}

function importAnswer({
  createdAt,
  workedAt: _workedAt,
  mint: _,
  sizeBytes,
  readBytes,
  counts,
  refusals,
  doubts,
  ...file
}: Import): DeskData<'getImport'> {
  return {
    ...file,
    at: createdAt.toISOString(),
    share: sizeBytes === 0 ? 0 : Math.min(1, readBytes / sizeBytes),
    made: counts?.made ?? null,
    added: counts?.added ?? null,
    changed: counts?.changed ?? null,
    unchanged: counts?.unchanged ?? null,
    refused: counts?.refused ?? null,
    refusals: refusals ?? [],
    doubts: doubts ?? [],
  };
}

/** Returns the body of a `raw` call as a stream. */
function bodyOf({ body, headers }: FastifyRequest): AsyncIterable<Buffer> {
  if (!/^text\/csv\b/i.test(headers['content-type'] ?? '')) throw new Refusal(415, NOT_CSV);
  if (Number(headers['content-length'] ?? 0) > MOST_FILE_BYTES) throw new Refusal(413, TOO_LARGE);
  return body as Readable;
}

/** Returns the order for new codes. Throws {@link Failed} if their count is not valid, or if they could not be imported. */
function orderOf(
  deps: Deps,
  body: MintOptions & { count: number | null; school?: string | undefined; imports: boolean },
): MintOrder {
  const school = body.school || null;
  const count = body.count ?? (school === null ? null : 1);
  if (count === null || count < 1 || count > MOST_MADE) throw new Failed(NO_COUNT);
  if (body.imports && school === null) throw new Failed(LEADS_NOWHERE);
  return { ...mintOf(deps, { ...body, school }), count, school, imports: body.imports };
}

/** Returns the programme and expiry that all new codes get. Throws a {@link Refusal} (400) if they are not valid. */
function mintOf(
  { society, now }: Deps,
  { programme, lastDay, school = null }: MintOptions & { school?: string | null },
): Pick<MintOrder, 'programme' | 'expiresAt'> {
  const order = { programme: programme || null, expiresAt: lastDay || null };
  const fault =
    faultOf({ ...order, school }, society.programmes) ??
    (order.expiresAt === null ? null : pastFault(order.expiresAt, society, now()));
  if (fault !== null) throw new Refusal(400, fault);
  return order;
}

/** Returns a stored file of an import: the minted codes or the refused lines. Throws a {@link Refusal} (404) if there is none. */
async function fileOf(deps: Deps, id: string, kind: PartKind): Promise<DeskFile> {
  const { createdAt } = await requireImport(deps, Number(id));
  const parts = partsOf(deps.database, Number(id), kind);
  const first = await parts.next();
  if (first.done) throw new Refusal(404, NOT_KEPT);
  // A part may end in the middle of a character, which the decoder completes with the next part.
  const decoder = new TextDecoder();
  async function* pieces() {
    yield decoder.decode(first.value!, { stream: true });
    for await (const part of parts) yield decoder.decode(part, { stream: true });
  }
  const name = kind === 'made' ? 'codes' : 'refused-lines';
  return { name: `${name}-${dayOf(deps.society, createdAt)}.csv`, pieces: pieces() };
}
