import type { Contact, Contacts } from './contacts.ts';
import { CrmError, invalid, notFound } from './errors.ts';
import type { Row } from './store.ts';

export interface BatchInput {
  id: string;
  idProperty?: string;
  properties: Record<string, string>;
  objectWriteTraceId?: string;
}

/** An answer of a batch: 207 with the errors of single inputs, where some failed. */
export interface BatchAnswer {
  status: number;
  body: object;
}

interface Failure {
  error: CrmError;
  context: Record<string, string[]>;
}

/** Runs `write` for each input inside `attempt`, which undoes what a failing one wrote. */
interface Run {
  now: number;
  attempt: <T>(work: () => T) => T;
}

export function readBatch(
  contacts: Contacts,
  request: { inputs: { id: string }[]; idProperty?: string; properties: string[] },
  archived: boolean,
  now: number,
): BatchAnswer {
  const rows: Row[] = [];
  const lost: string[] = [];
  for (const { id } of request.inputs) {
    const row = contacts.find(id, request.idProperty, archived);
    if (row) rows.push(row);
    else lost.push(id);
  }
  const results = [...new Map(rows.map((row) => [row.id, contacts.view(row, request.properties)])).values()];
  return answer(200, results, lost.length > 0 ? [missing(lost)] : [], now);
}

/** Creates contacts; all or none, unless each input carries an `objectWriteTraceId` by which its error is told. */
export function createBatch(contacts: Contacts, inputs: Omit<BatchInput, 'id'>[], run: Run): BatchAnswer {
  const { results, failures } = each(inputs, run, (input) =>
    contacts.view(contacts.create(input.properties, run.now), Object.keys(input.properties)),
  );
  return answer(201, results, failures, run.now);
}

/** Updates contacts by id or by a unique property. Unknown ones are told as errors beside the others' results. */
export function updateBatch(contacts: Contacts, inputs: BatchInput[], run: Run): BatchAnswer {
  assertDistinct(inputs);
  const known = inputs.filter((input) => contacts.find(input.id, input.idProperty));
  const lost = inputs.filter((input) => !known.includes(input)).map((input) => input.id);
  const { results, failures } = each(known, run, (input) => {
    const row = contacts.require(input.id, input.idProperty);
    return contacts.view(contacts.update(row, input.properties, run.now), Object.keys(input.properties));
  });
  return answer(200, results, lost.length > 0 ? [...failures, missing(lost)] : failures, run.now);
}

/** Updates contacts by a unique property, or creates them. */
export function upsertBatch(contacts: Contacts, inputs: BatchInput[], run: Run): BatchAnswer {
  assertDistinct(inputs);
  const { results, failures } = each(inputs, run, (input) => {
    const row = contacts.find(input.id, input.idProperty);
    if (!row && (input.idProperty ?? 'hs_object_id') === 'hs_object_id') throw notFound();
    const properties = row ? input.properties : { [input.idProperty!]: input.id, ...input.properties };
    const written = row ? contacts.update(row, properties, run.now) : contacts.create(properties, run.now);
    return { ...contacts.view(written, Object.keys(properties)), new: !row };
  });
  return answer(200, results, failures, run.now);
}

function each<Input extends { objectWriteTraceId?: string }>(
  inputs: readonly Input[],
  run: Run,
  write: (input: Input) => Contact,
): { results: Contact[]; failures: Failure[] } {
  const traced = inputs.every((input) => input.objectWriteTraceId !== undefined);
  const results: Contact[] = [];
  const failures: Failure[] = [];
  for (const input of inputs) {
    try {
      results.push(run.attempt(() => write(input)));
    } catch (error) {
      if (!(error instanceof CrmError) || !traced) throw error;
      failures.push({ error, context: { objectWriteTraceId: [input.objectWriteTraceId!] } });
    }
  }
  return { results, failures };
}

function assertDistinct(inputs: readonly BatchInput[]): void {
  const ids = inputs.map((input) => `${input.idProperty ?? ''} ${input.id.toLowerCase()}`);
  const twice = inputs.filter((_, index) => ids.indexOf(ids[index]!) !== index).map((input) => input.id);
  if (twice.length > 0)
    throw invalid(`Duplicate IDs found in batch input: [${twice.join(', ')}]. IDs must be unique`);
}

function missing(ids: string[]): Failure {
  const message =
    'Could not get some CONTACT objects, they may be deleted or not exist. Check that ids are valid.';
  return { error: new CrmError(404, 'OBJECT_NOT_FOUND', message), context: { ids } };
}

function answer(status: number, results: Contact[], failures: readonly Failure[], now: number): BatchAnswer {
  const time = new Date(now).toISOString();
  const body = { status: 'COMPLETE', results, startedAt: time, completedAt: time };
  if (failures.length === 0) return { status, body };
  const errors = failures.map(({ error, context }) => ({
    status: 'error',
    category: error.category,
    message: error.message,
    context,
    links: {},
    errors: error.details,
  }));
  return { status: 207, body: { ...body, numErrors: errors.length, errors } };
}
