import type { Contact, Contacts } from './contacts.ts';
import { CrmError, invalid } from './errors.ts';
import type { Row } from './store.ts';

export interface BatchInput {
  id: string;
  idProperty?: string;
  properties: Record<string, string>;
  objectWriteTraceId?: string;
}

/** The answer to a batch. If some inputs failed, the status is 207, and the body also has their errors. */
export interface BatchAnswer {
  status: number;
  body: object;
}

interface Failure {
  error: CrmError;
  context: Record<string, string[]>;
}

/**
 * The context of a batch: the current time (ms since 1970), and `attempt`, which runs the write of one input and undoes it if it
 * fails.
 */
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
  assertIds(request.inputs.map(({ id }) => ({ id, idProperty: request.idProperty })));
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

/**
 * Creates contacts. If every input has an `objectWriteTraceId`, an invalid input fails alone, and the error about it has this id.
 * Otherwise one invalid input fails the whole batch.
 */
export function createBatch(contacts: Contacts, inputs: Omit<BatchInput, 'id'>[], run: Run): BatchAnswer {
  const traces = inputs.flatMap(({ objectWriteTraceId }) => objectWriteTraceId ?? []);
  if (new Set(traces).size < traces.length)
    throw invalid('Each objectWriteTraceId must be unique in a batch.');
  const { results, failures } = each(inputs, run, (input) =>
    contacts.view(contacts.create(input.properties, run.now), Object.keys(input.properties)),
  );
  return answer(201, results, failures, run.now);
}

/**
 * Updates contacts by id or by a unique property. An unknown contact fails its own input alone. A refused value fails the whole
 * batch: HubSpot reports refused values input by input only when it creates records.
 */
export function updateBatch(contacts: Contacts, inputs: BatchInput[], run: Run): BatchAnswer {
  assertIds(inputs);
  assertDistinct(inputs);
  const known = inputs.filter((input) => contacts.find(input.id, input.idProperty));
  const lost = inputs.filter((input) => !known.includes(input)).map((input) => input.id);
  const results = known.map((input) => {
    const row = contacts.require(input.id, input.idProperty);
    return contacts.view(contacts.update(row, input.properties, run.now), Object.keys(input.properties));
  });
  return answer(200, results, lost.length > 0 ? [missing(lost)] : [], run.now);
}

/**
 * Updates contacts by a unique property, or creates them. When that property is the email, each input must have the email among
 * its properties, too; otherwise HubSpot refuses the batch, and so does the emulator.
 */
export function upsertBatch(contacts: Contacts, inputs: BatchInput[], run: Run): BatchAnswer {
  if (inputs.some(({ idProperty }) => idProperty === undefined))
    throw invalid('An upsert needs an idProperty.');
  if (inputs.some(({ idProperty, properties }) => idProperty === 'email' && !properties.email))
    throw invalid('Partial upserts are not supported by email.');
  assertDistinct(inputs);
  const results = inputs.map((input) => {
    const row = contacts.find(input.id, input.idProperty);
    const properties = row ? input.properties : { [input.idProperty!]: input.id, ...input.properties };
    const written = row ? contacts.update(row, properties, run.now) : contacts.create(properties, run.now);
    return { ...contacts.view(written, Object.keys(properties)), new: !row };
  });
  return answer(200, results, [], run.now);
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

/** Throws unless every record id is a number of at most 63 bits. */
function assertIds(inputs: readonly { id: string; idProperty?: string | undefined }[]): void {
  const wrong = inputs.find(
    ({ id, idProperty }) => idProperty === undefined && !(/^\d{1,19}$/.test(id) && BigInt(id) < 2n ** 63n),
  );
  if (wrong) throw invalid(`${wrong.id} is not a valid record id.`);
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
