import { shapeFaults } from '../shared/shapeFaults.ts';

const text = { type: 'string' };
const texts = { type: 'array', items: text };
const time = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' };
const written = { type: 'object', additionalProperties: text };
const listOf = (items: object, maximum?: number) => ({
  type: 'array',
  items,
  ...(maximum && { maxItems: maximum, minItems: 1 }),
});

function closed(properties: Record<string, object>, required: string[] = []): object {
  return { type: 'object', properties, required, additionalProperties: false };
}

const filter = closed({ propertyName: text, operator: text, value: text, values: texts, highValue: text }, [
  'propertyName',
  'operator',
]);
const contact = {
  id: { type: 'string', pattern: '^\\d+$' },
  properties: { type: 'object', additionalProperties: { type: ['string', 'null'] } },
  createdAt: time,
  updatedAt: time,
  archived: { type: 'boolean' },
  archivedAt: time,
  url: text,
  /** Present only when associations were requested. */
  associations: { type: 'object', additionalProperties: { type: 'object' } },
};
const FILE = closed(
  {
    id: { type: 'string', pattern: '^\\d+$' },
    ...Object.fromEntries(
      ['name', 'extension', 'path', 'type', 'encoding', 'access', 'url', 'defaultHostingUrl'].map((name) => [
        name,
        text,
      ]),
    ),
    ...Object.fromEntries(['parentFolderId', 'sourceGroup', 'fileMd5'].map((name) => [name, text])),
    createdAt: time,
    updatedAt: time,
    archivedAt: time,
    size: { type: 'integer' },
    width: { type: 'integer' },
    height: { type: 'integer' },
    expiresAt: { type: 'integer' },
    archived: { type: 'boolean' },
    isUsableInContent: { type: 'boolean' },
  },
  ['id', 'access', 'archived', 'createdAt', 'updatedAt'],
);
const CONTACT = closed(contact, ['id', 'properties', 'createdAt', 'updatedAt']);
const paging = closed({ next: closed({ after: text, link: text }, ['after']) });
const error = {
  status: text,
  message: text,
  correlationId: { type: 'string', pattern: '^[0-9a-f-]{36}$' },
  category: text,
  subCategory: text,
  context: { type: 'object', additionalProperties: texts },
  links: { type: 'object', additionalProperties: text },
  errors: listOf(
    closed(
      {
        message: text,
        code: text,
        in: text,
        subCategory: text,
        context: { type: 'object', additionalProperties: texts },
      },
      ['message'],
    ),
  ),
  errorType: text,
  policyName: text,
  groupName: text,
};
const batchAnswer = (item: object) =>
  closed(
    {
      status: { enum: ['PENDING', 'PROCESSING', 'CANCELED', 'COMPLETE'] },
      results: listOf(item),
      requestedAt: time,
      startedAt: time,
      completedAt: time,
      numErrors: { type: 'integer' },
      errors: listOf(
        closed(
          {
            status: text,
            id: text,
            category: text,
            subCategory: { type: 'object' },
            message: text,
            context: { type: 'object', additionalProperties: texts },
            links: { type: 'object', additionalProperties: text },
            errors: error.errors,
          },
          ['status', 'category', 'message', 'context', 'links', 'errors'],
        ),
      ),
    },
    ['status', 'results', 'startedAt', 'completedAt'],
  );

/** The maximum number of inputs in a batch (https://developers.hubspot.com/docs/api-reference/crm-contacts-v3/guide). */
const BATCH = 100;

/** The shapes of bodies, from the CRM's specification. They are closed: a property that a shape does not list is a fault. */
const SHAPES = {
  create: closed(
    { properties: written, associations: listOf({ type: 'object' }), objectWriteTraceId: text },
    ['properties'],
  ),
  gdprDelete: closed({ objectId: text, idProperty: text }, ['objectId']),
  merge: closed({ primaryObjectId: text, objectIdToMerge: text }, ['primaryObjectId', 'objectIdToMerge']),
  update: closed({ properties: written, objectWriteTraceId: text }, ['properties']),
  search: closed({
    query: text,
    limit: { type: 'integer', minimum: 1, maximum: 200 },
    after: text,
    sorts: listOf({
      anyOf: [
        text,
        closed({ propertyName: text, direction: { enum: ['ASCENDING', 'DESCENDING'] } }, ['propertyName']),
      ],
    }),
    properties: texts,
    filterGroups: {
      type: 'array',
      maxItems: 5,
      items: closed({ filters: { type: 'array', items: filter, maxItems: 6 } }, ['filters']),
    },
  }),
  batchRead: closed(
    {
      inputs: listOf(closed({ id: text }, ['id']), BATCH),
      properties: texts,
      propertiesWithHistory: { type: 'array', maxItems: 0 },
      idProperty: text,
    },
    ['inputs', 'properties', 'propertiesWithHistory'],
  ),
  batchCreate: closed(
    {
      inputs: listOf(
        closed({ properties: written, associations: listOf({ type: 'object' }), objectWriteTraceId: text }, [
          'properties',
        ]),
        BATCH,
      ),
    },
    ['inputs'],
  ),
  batchWrite: closed(
    {
      inputs: listOf(
        closed({ id: text, idProperty: text, properties: written, objectWriteTraceId: text }, [
          'id',
          'properties',
        ]),
        BATCH,
      ),
    },
    ['inputs'],
  ),
  propertyCreate: closed(
    {
      name: { type: 'string', pattern: '^[a-z][a-z0-9_]*$' },
      label: text,
      type: { enum: ['string', 'number', 'datetime', 'date', 'bool', 'enumeration'] },
      fieldType: text,
      groupName: text,
      description: text,
      hasUniqueValue: { type: 'boolean' },
      options: listOf(
        closed({ label: text, value: text, displayOrder: { type: 'integer' }, hidden: { type: 'boolean' } }, [
          'label',
          'value',
        ]),
      ),
    },
    ['name', 'label', 'type', 'fieldType', 'groupName'],
  ),
  noteCreate: closed(
    {
      properties: written,
      associations: listOf(
        closed(
          {
            to: closed({ id: text }, ['id']),
            types: listOf(
              closed({ associationCategory: text, associationTypeId: { type: 'integer' } }, [
                'associationCategory',
                'associationTypeId',
              ]),
            ),
          },
          ['to', 'types'],
        ),
      ),
      objectWriteTraceId: text,
    },
    ['properties', 'associations'],
  ),
  note: CONTACT,
  notes: batchAnswer(CONTACT),
  file: FILE,
  fileStat: closed({ file: FILE, folder: { type: 'object' } }),
  tokenInfo: closed({ tokenKey: text }, ['tokenKey']),
  contact: CONTACT,
  page: closed({ results: listOf(CONTACT), paging }, ['results']),
  found: closed({ total: { type: 'integer' }, results: listOf(CONTACT), paging }, ['total', 'results']),
  batch: batchAnswer(CONTACT),
  account: closed(
    {
      portalId: { type: 'integer' },
      accountType: text,
      timeZone: text,
      companyCurrency: text,
      additionalCurrencies: texts,
      utcOffset: text,
      utcOffsetMilliseconds: { type: 'integer' },
      uiDomain: text,
      dataHostingLocation: text,
    },
    ['portalId', 'accountType', 'timeZone'],
  ),
  upserted: batchAnswer(
    closed({ ...contact, new: { type: 'boolean' } }, ['id', 'properties', 'createdAt', 'updatedAt', 'new']),
  ),
  error: closed(error, ['message', 'correlationId']),
};

export type ShapeName = keyof typeof SHAPES;

const checks = Object.fromEntries(
  Object.entries(SHAPES).map(([name, shape]) => [name, shapeFaults(shape)]),
) as Record<ShapeName, (value: unknown) => string[]>;

/** Returns what is wrong with a body; empty when it has the shape. */
export function faultsOf(name: ShapeName, body: unknown): string[] {
  return checks[name](body);
}
