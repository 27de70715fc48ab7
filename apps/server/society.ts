import { readFileSync } from 'node:fs';
import { isMap, isScalar, isSeq, LineCounter, type ParsedNode, parseDocument } from 'yaml';
import { z } from 'zod';
import type { Site } from '#contract/schemas.ts';
import { contrastFaults } from '#core/contrast.ts';
import { type CrmField, crmFields, defaultFieldRules, type FieldRules } from '#core/crmFields.ts';
import { displayPrice, fromPrice, MINIMUM_CHARGE_CENTS, shortPrice } from '#core/money.ts';
import { type ProductType, productTypes } from '#core/product.ts';

/** One society's words, programmes and catalogue, from its society.yaml. */
export interface Society extends Omit<SocietyFile, 'catalogue' | 'crm'> {
  /** Which property of the CRM holds what, and what a join may write there. */
  crm: { fields: FieldRules; attachDocuments: boolean };
  catalogue: CatalogueProduct[];
  defaultProgramme: string;
  product(id: number): CatalogueProduct | undefined;
  productByUuid(uuid: string): CatalogueProduct | undefined;
  programme(key: string): Programme;
  /** The memberships and the upgrade that a programme sells, in the file's order. */
  memberships(programme: string): CatalogueProduct[];
}

const line = z.string().trim().min(1);
const price = z
  .string()
  .regex(/^\d{1,6}\.\d{2}$/, 'must be dollars with two decimals in quotes, as "65.00"')
  .transform(fromPrice);
const sellable = price.refine(
  (cents) => cents >= MINIMUM_CHARGE_CENTS,
  'must be at least "0.50", the least that a card can be charged',
);
const webAddress = z.url({ protocol: /^https?$/, error: 'must be a web address' });
const colour = z.string().regex(/^#[0-9a-fA-F]{6}$/, 'must be a colour as "#9E1B32"');

const programme = z.strictObject({
  name: line,
  isTOLA: z.boolean(),
  defaultMembership: z.int(),
  processingFee: price,
  transcriptRequired: z.boolean(),
  eligibility: z.strictObject({ intro: line, rules: z.array(line).min(1), note: line }),
  refund: line,
  /** Beside the upgrade, whose fee is another one. */
  upgradeRefund: line,
  pages: z.strictObject({
    membershipHeader: line,
    membershipSubheader: line,
    congratulationsHeader: line,
    congratulationsSubheader: line,
    upgradeHeader: line,
    upgradeSubheader: line,
  }),
});

const catalogueProduct = z.strictObject({
  id: z.int().min(1).max(2_147_483_647),
  uuid: z.uuid(),
  type: z.enum(productTypes),
  programme: line.optional(),
  name: line,
  description: z.string().default(''),
  icon: z.string().default(''),
  price: sellable.optional(),
  floor: sellable.optional(),
  upgrade: z.int().optional(),
  features: z.array(line).default([]),
  recommended: z.boolean().default(false),
  /** What of a membership or upgrade is sent by post. A store item is itself what is sent. */
  ships: line.optional(),
});

const fieldRule = z.strictObject({
  property: z
    .string()
    .regex(/^[a-z][a-z0-9_]*$/, 'must be the internal name of a property: small letters, digits and _')
    .nullable(),
  write: z.enum(['overwrite', 'blanks', 'never']).default('overwrite'),
});

const societyFile = z.strictObject({
  crm: z
    .strictObject({
      fields: z.partialRecord(z.enum(crmFields as [CrmField, ...CrmField[]]), fieldRule).default({}),
      attachDocuments: z.boolean().default(true),
    })
    .default({ fields: {}, attachDocuments: true }),
  society: z.strictObject({
    name: line,
    shortName: line,
    tagline: line,
    supportEmail: z.email(),
    supportPhone: line,
    links: z.strictObject({ whoWeAre: webAddress, privacy: webAddress, refunds: webAddress }),
    colours: z.strictObject({ gold: colour, red: colour }),
  }),
  programmes: z.record(
    z.string().regex(/^[a-z][a-z0-9-]*$/, 'must be small letters, digits and hyphens'),
    programme,
  ),
  catalogue: z.array(catalogueProduct).min(1),
  donations: z.strictObject({ maximum: sellable }),
  pages: z.strictObject({
    getStarted: z.strictObject({
      lead: line,
      facts: z.array(z.strictObject({ title: line, text: line })).max(4),
    }),
    questions: z
      .array(z.strictObject({ title: line, text: line }))
      .max(6)
      .default([]),
    /** Who invited the joiner and why: through {school}, without one, or nobody. */
    studentDetails: z.strictObject({ invitedThroughSchool: line, invited: line, nominated: line }),
    checkout: z.strictObject({ donationIntro: line, carbonNote: line }),
    congratulations: z.strictObject({
      lead: line,
      emails: z
        .array(z.strictObject({ title: line, text: line, when: line }))
        .length(3, 'must list three emails'),
    }),
  }),
  store: z.strictObject({
    title: line,
    text: line,
    discountPercent: z.int().min(1).max(100),
    code: line,
    url: webAddress,
  }),
});

type SocietyFile = z.output<typeof societyFile>;
export type Programme = z.output<typeof programme>;
/** Prices are cents. `priceCents` is null only for the donation whose amount the joiner types. */
export type CatalogueProduct = z.output<typeof catalogueProduct> & { type: ProductType; sortOrder: number };

/** All that is wrong with a society file, a line each. */
export class SocietyFaults extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

export function readSociety(file: string): Society {
  let source: string;
  try {
    source = readFileSync(file, 'utf8');
  } catch {
    throw new SocietyFaults([`${file} cannot be read. SOCIETY_FILE names the society's file.`]);
  }
  return parseSociety(source, file);
}

/** Parses a society file. Throws {@link SocietyFaults} with every fault and its line, and returns nothing half-right. */
export function parseSociety(source: string, file: string): Society {
  const lineCounter = new LineCounter();
  const document = parseDocument(source, { lineCounter });
  const at = (path: readonly PropertyKey[]) => lineCounter.linePos(offsetOf(document.contents, path)).line;
  if (document.errors.length > 0)
    throw new SocietyFaults(
      document.errors.map(
        (error) => `${file}:${error.linePos?.[0].line ?? 1}: ${error.message.split('\n')[0]}`,
      ),
    );
  const parsed = societyFile.safeParse(document.toJS());
  if (!parsed.success)
    throw new SocietyFaults(
      parsed.error.issues.flatMap((issue) => {
        const keys = issue.code === 'unrecognized_keys' ? issue.keys : [undefined];
        return keys.map((key) => {
          const path = key === undefined ? issue.path : [...issue.path, key];
          const text = key === undefined ? issue.message : 'is not a known setting';
          return `${file}:${at(path)}: ${path.join('.')}: ${text}`;
        });
      }),
    );
  const faults = crossFaults(parsed.data).map(
    ({ path, text }) => `${file}:${at(path)}: ${path.join('.')}: ${text}`,
  );
  if (faults.length > 0) throw new SocietyFaults(faults);
  return build(parsed.data);
}

/** What no single field shows: references between products and programmes, and names used twice. */
function crossFaults(data: SocietyFile): { path: PropertyKey[]; text: string }[] {
  const faults: { path: PropertyKey[]; text: string }[] = [];
  const add = (path: PropertyKey[], text: string) => faults.push({ path, text });
  const find = (id: number) => data.catalogue.find((product) => product.id === id);
  for (const { colour, text } of contrastFaults(data.society.colours))
    add(['society', 'colours', colour], text);
  if (Object.keys(data.programmes).length === 0) add(['programmes'], 'must have at least one programme');
  for (const [key, { defaultMembership }] of Object.entries(data.programmes)) {
    const product = find(defaultMembership);
    if (product?.type !== 'membership' || product.programme !== key)
      add(
        ['programmes', key, 'defaultMembership'],
        `product ${defaultMembership} is not a membership of this programme`,
      );
  }
  data.catalogue.forEach((product, index) => {
    const path = ['catalogue', index];
    const membership = product.type === 'membership' || product.type === 'membership_upgrade';
    if (data.catalogue.findIndex(({ id }) => id === product.id) !== index)
      add([...path, 'id'], `id ${product.id} is used twice`);
    if (data.catalogue.findIndex(({ uuid }) => uuid === product.uuid) !== index)
      add([...path, 'uuid'], 'this uuid is used twice');
    if (membership && (product.programme === undefined || !(product.programme in data.programmes)))
      add([...path, 'programme'], 'must name one of the programmes');
    if (!membership && product.programme !== undefined)
      add([...path, 'programme'], 'is only for memberships and upgrades');
    if (!membership && product.ships !== undefined)
      add([...path, 'ships'], 'is only for memberships and upgrades: a store item is itself what is sent');
    if (product.type === 'donation_other' && product.price !== undefined)
      add([...path, 'price'], 'the joiner gives this amount');
    if (product.type !== 'donation_other' && product.price === undefined)
      add([...path, 'price'], 'is missing');
    if (product.floor !== undefined && product.price !== undefined && product.floor > product.price)
      add([...path, 'floor'], 'must not be above the price');
    if (product.upgrade !== undefined) {
      const upgrade = find(product.upgrade);
      if (upgrade?.type !== 'membership_upgrade' || upgrade.programme !== product.programme)
        add([...path, 'upgrade'], `product ${product.upgrade} is not an upgrade of the same programme`);
    }
  });
  if (data.catalogue.filter(({ type }) => type === 'donation_other').length !== 1)
    add(
      ['catalogue'],
      'must have exactly one product of type donation_other, for the amount that a joiner types',
    );
  return faults;
}

function build(data: SocietyFile): Society {
  const catalogue = data.catalogue.map((product, sortOrder) => ({ ...product, sortOrder }));
  const byId = new Map(catalogue.map((product) => [product.id, product]));
  const byUuid = new Map(catalogue.map((product) => [product.uuid, product]));
  return {
    ...data,
    crm: { ...data.crm, fields: { ...defaultFieldRules, ...data.crm.fields } },
    catalogue,
    defaultProgramme: Object.keys(data.programmes)[0]!,
    product: (id) => byId.get(id),
    productByUuid: (uuid) => byUuid.get(uuid),
    programme: (key) => data.programmes[key] ?? data.programmes[Object.keys(data.programmes)[0]!]!,
    memberships: (key) =>
      catalogue.filter(({ type, programme }) => type === 'membership' && programme === key),
  };
}

/** Where in the source the node at a path starts; the nearest ancestor's place when the node itself is missing. */
function offsetOf(root: ParsedNode | null, path: readonly PropertyKey[]): number {
  let node: unknown = root;
  let offset = root?.range?.[0] ?? 0;
  for (const key of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key));
      if (!pair) return offset;
      offset = (pair.key as ParsedNode).range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(key)];
      offset = (node as ParsedNode | undefined)?.range?.[0] ?? offset;
    } else return offset;
  }
  return offset;
}

/** Fills {product}, {society}, {email}, {phone}, {fee} and {discount}, and what `more` names, into a text of the file. */
export function fillIn(
  text: string,
  society: Society,
  key: string,
  more: Record<string, string> = {},
): string {
  const programme = society.programme(key);
  const values: Record<string, string> = {
    product: programme.name,
    society: society.society.name,
    email: society.society.supportEmail,
    phone: society.society.supportPhone,
    fee: shortPrice(programme.processingFee),
    discount: `${society.store.discountPercent}%`,
    ...more,
  };
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

/** Who is eligible for a programme, in the society's words. */
export function eligibilityOf(society: Society, key: string) {
  const { intro, rules, note } = society.programme(key).eligibility;
  const fill = (text: string) => fillIn(text, society, key);
  return { intro: fill(intro), rules: rules.map(fill), note: fill(note) };
}

/** What every page may know of the society: the `site` of the contract. */
export function toSite(society: Society, rest: Pick<Site, 'payments' | 'uploadMaxBytes' | 'apiUrl'>): Site {
  const fill = (text: string, key = society.defaultProgramme) => fillIn(text, society, key);
  return {
    society: society.society,
    defaultProgramme: society.defaultProgramme,
    programmes: Object.fromEntries(
      Object.entries(society.programmes).map(([key, { name, isTOLA, refund, defaultMembership }]) => [
        key,
        {
          name,
          isTOLA,
          eligibility: eligibilityOf(society, key),
          refund: fill(refund, key),
          membershipFrom: shortPrice(society.product(defaultMembership)!.price!),
        },
      ]),
    ),
    getStarted: {
      lead: fill(society.pages.getStarted.lead),
      facts: society.pages.getStarted.facts,
    },
    questions: society.pages.questions.map(({ title, text }) => ({ title, text: fill(text) })),
    checkout: { ...society.pages.checkout, maximumDonation: society.donations.maximum / 100 },
    congratulations: {
      ...society.pages.congratulations,
      store: {
        title: society.store.title,
        text: fill(society.store.text),
        code: society.store.code,
        url: society.store.url,
        discountPercent: society.store.discountPercent,
      },
    },
    ...rest,
  };
}

/** A product as the wire carries it; a session's own line has its uuid and the price stored in it, in cents. */
export function toWireProduct(
  product: Pick<
    CatalogueProduct,
    'id' | 'uuid' | 'type' | 'name' | 'price' | 'description' | 'icon' | 'sortOrder'
  >,
  line: { uuid: string | null; priceCents: number } = { uuid: null, priceCents: product.price ?? 0 },
) {
  return {
    sessionProductUuid: line.uuid,
    productId: product.id,
    id: product.id,
    uuid: product.uuid,
    name: product.name,
    price: (line.priceCents / 100).toFixed(2),
    displayPrice: displayPrice(line.priceCents),
    description: product.description,
    icon: product.icon,
    productType: product.type,
    sortOrder: product.sortOrder,
  };
}

/**
 * A line of an order as the wire carries it, at the name and price of the day on which it was added (cents). What the
 * catalogue does not have any more stays what it was, without a description or picture: what is charged is always shown.
 */
export function toWireLine(
  society: Pick<Society, 'product'>,
  line: { uuid: string; productId: number; type: ProductType; name: string; priceCents: number },
) {
  const product = society.product(line.productId) ?? {
    id: line.productId,
    uuid: line.uuid,
    type: line.type,
    description: '',
    icon: '',
    sortOrder: line.productId,
  };
  return { ...toWireProduct({ ...product, name: line.name }, line), productType: line.type };
}
