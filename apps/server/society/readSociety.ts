import { readFileSync } from 'node:fs';
import { isMap, isScalar, isSeq, LineCounter, type ParsedNode, parseDocument } from 'yaml';
import { defaultFieldRules } from '#core/crmFields.ts';
import { crossFaults } from './crossChecks.ts';
import { type SocietyFile, societyFile } from './schema.ts';
import type { Society } from './society.ts';

/** Thrown for a wrong society file. `faults` has one line for each fault. */
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

/** Parses a society file. Throws {@link SocietyFaults} with all faults and their line numbers. */
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

function build(data: SocietyFile): Society {
  const catalogue = data.catalogue.map(({ price, floor, ...product }, sortOrder) => ({
    ...product,
    ...(price !== undefined && { priceCents: price }),
    ...(floor !== undefined && { floorCents: floor }),
    sortOrder,
  }));
  const programmes = Object.fromEntries(
    Object.entries(data.programmes).map(([key, { processingFee, ...programme }]) => [
      key,
      { ...programme, processingFeeCents: processingFee },
    ]),
  );
  const defaultProgramme = Object.keys(programmes)[0]!;
  const byId = new Map(catalogue.map((product) => [product.id, product]));
  const offers = catalogue.filter(({ retired }) => !retired);
  return {
    ...data,
    crm: { ...data.crm, fields: { ...defaultFieldRules, ...data.crm.fields } },
    donations: { maximumCents: data.donations.maximum },
    programmes,
    catalogue,
    offers,
    defaultProgramme,
    product: (id) => byId.get(id),
    offer: (by) => offers.find((product) => ('id' in by ? product.id === by.id : product.uuid === by.uuid)),
    programme: (key) => programmes[key] ?? programmes[defaultProgramme]!,
    memberships: (key) => offers.filter(({ type, programme }) => type === 'membership' && programme === key),
  };
}

/**
 * Returns the offset in the source of the node at a path. If there is no such node, returns the offset of its nearest ancestor.
 */
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
