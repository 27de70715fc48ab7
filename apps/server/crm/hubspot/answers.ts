import { z } from 'zod';

/** Schemas with the fields that we read from HubSpot's answers (https://developers.hubspot.com/docs/api-reference). */

/** An id of HubSpot. It is kept as text, because it may have 64 bits, more than a JavaScript number holds exactly. */
const id = z.string().regex(/^\d+$/);
const time = z.string().refine((text) => !Number.isNaN(Date.parse(text)));

const contact = z.object({ id, properties: z.record(z.string(), z.string().nullable()), createdAt: time });
/** A contact as HubSpot returns it. */
export type CrmContact = z.infer<typeof contact>;

const options = z.array(z.object({ label: z.string(), value: z.string() }));

/** An error about one record of a batch, or about several. */
const batchError = z.looseObject({
  category: z.string().optional(),
  message: z.string(),
  context: z
    .object({ objectWriteTraceId: z.array(z.string()).optional(), ids: z.array(z.string()).optional() })
    .optional(),
});

export const answers = {
  contact,
  contactWithNotes: contact.extend({
    associations: z.object({ notes: z.object({ results: z.array(z.object({ id })) }).optional() }).optional(),
  }),
  records: z.object({ results: z.array(contact) }),
  /** A page of contacts, of which only the ids are read. */
  page: z.object({
    results: z.array(z.object({ id })),
    paging: z.object({ next: z.object({ after: z.string() }).nullish() }).nullish(),
  }),
  batch: z.object({ results: z.array(contact), errors: z.array(batchError).optional() }),
  /** The answer to a batch of reads. `status` says whether HubSpot has completed the reads. */
  batchRead: z.object({
    status: z.string(),
    results: z.array(contact),
    errors: z.array(batchError).optional(),
  }),
  created: z.object({ id }),
  fileOrFolder: z.union([
    z.object({ file: z.object({ id }) }),
    z.object({ folder: z.object({}) }).transform(() => ({ file: null })),
  ]),
  properties: z.object({
    results: z.array(
      z.object({
        name: z.string(),
        label: z.string(),
        type: z.string(),
        fieldType: z.string(),
        groupName: z.string(),
        options: options.optional(),
        calculated: z.boolean().optional(),
        modificationMetadata: z.object({ readOnlyValue: z.boolean().optional() }).optional(),
      }),
    ),
  }),
  property: z.object({ name: z.string() }),
  account: z.object({ portalId: z.int() }),
  scopes: z.object({ scopes: z.array(z.string()) }),
  anything: z.object({}),
  /** An answer without a body (204). */
  nothing: z.undefined(),
};
export type BatchAnswer = z.infer<typeof answers.batch>;

/**
 * Parses JSON, and removes from its strings the characters that PostgreSQL cannot store: NUL and unpaired surrogates. Returns
 * undefined if the text is not JSON.
 */
export function jsonOf(text: string): unknown {
  const storable = (_: string, value: unknown) =>
    typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value;
  try {
    return JSON.parse(text, storable);
  } catch {
    return undefined;
  }
}
