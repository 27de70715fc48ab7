import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseDocument,
  visit,
} from 'yaml';
import type { z } from 'zod';
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

/** Reads a society file. Throws {@link SocietyFaults} as {@link parseSociety} does, or if the file cannot be read as UTF-8. */
export function readSociety(file: string): Society {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch {
    throw new SocietyFaults([`${file} cannot be read. SOCIETY_FILE names the society's file.`]);
  }
  if (!isUtf8(bytes)) {
    const line = lineOfBadByte(bytes);
    throw new SocietyFaults([`${file}:${line}: is not in UTF-8: save the file with this encoding`]);
  }
  return parseSociety(bytes.toString(), file);
}

/** Returns the number of the first line that is not in UTF-8. */
function lineOfBadByte(bytes: Buffer): number {
  let line = 1;
  for (let from = 0; ; line++) {
    const end = bytes.indexOf('\n', from);
    if (end < 0 || !isUtf8(bytes.subarray(from, end))) return line;
    from = end + 1;
  }
}

/**
 * Parses a society file. Throws {@link SocietyFaults} with the faults and their line numbers: those of the YAML; if there are
 * none, those that the schema finds; if there are none either, those of {@link crossFaults}.
 */
export function parseSociety(source: string, file: string): Society {
  const lineCounter = new LineCounter();
  const document = parseDocument(source, { lineCounter });
  const at = (path: readonly PropertyKey[]) => lineCounter.linePos(offsetOf(document.contents, path)).line;
  // A warning of the YAML parser means that words are lost: in `name: !Honor Scholars`, YAML reads the first word as a tag.
  const notYaml = [...document.errors, ...document.warnings];
  if (notYaml.length > 0)
    throw new SocietyFaults(
      notYaml.map(
        ({ linePos, message }) => `${file}:${linePos?.[0].line ?? 1}: ${message.split('\n')[0]}. ${QUOTES}`,
      ),
    );
  const references = loneReferences(document);
  if (references.length > 0)
    throw new SocietyFaults(
      references.map(({ offset, mark }) => {
        const { line } = lineCounter.linePos(offset);
        return `${file}:${line}: ${mark} at the beginning of a text has a meaning in YAML. ${QUOTES}`;
      }),
    );
  const cut = textsCutByComments(document, source);
  if (cut.length > 0)
    throw new SocietyFaults(
      cut.map(({ offset, comment }) => {
        const { line } = lineCounter.linePos(offset);
        return `${file}:${line}: "${comment}" is a comment for YAML, and no part of the text before it. ${QUOTES}; a comment has a space after #`;
      }),
    );
  const parsed = societyFile.safeParse(document.toJS(), { reportInput: true });
  if (!parsed.success)
    throw new SocietyFaults(
      parsed.error.issues.flatMap((issue) => {
        const keys = issue.code === 'unrecognized_keys' ? issue.keys : [undefined];
        return keys.map((key) => {
          const path = key === undefined ? issue.path : [...issue.path, key];
          const text = key === undefined ? sentenceFor(issue) : 'is not a known setting';
          return `${file}:${at(path)}: ${path.length > 0 ? `${path.join('.')}: ` : ''}${text}`;
        });
      }),
    );
  const faults = crossFaults(parsed.data).map(
    ({ path, text }) => `${file}:${at(path)}: ${path.join('.')}: ${text}`,
  );
  if (faults.length > 0) throw new SocietyFaults(faults);
  return build(parsed.data);
}

const QUOTES = 'A text with a sign that means something in YAML must be in quotes, as "Membership: for life"';

/**
 * Returns the aliases (`*name`) without an anchor (`&name`), and the anchors without an alias. Each is a text that lacks quotes.
 */
function loneReferences(document: Document.Parsed): { offset: number; mark: string }[] {
  const anchors: [string, number][] = [];
  const aliases: [string, number][] = [];
  visit(document, {
    Node(_key, node) {
      const [offset = 0] = node.range ?? [];
      if (isAlias(node)) aliases.push([node.source, offset]);
      else if (node.anchor !== undefined) anchors.push([node.anchor, offset]);
    },
  });
  const without = (some: typeof anchors, others: typeof anchors, mark: string) =>
    some
      .filter(([name]) => !others.some(([other]) => other === name))
      .map(([, offset]) => ({ offset, mark }));
  return [...without(aliases, anchors, '*'), ...without(anchors, aliases, '&')];
}

/**
 * Returns the unquoted texts that YAML cuts off at a comment whose # is not followed by a space, as in `name: Honor #1`. Such a
 * comment was probably meant as a part of the text.
 */
function textsCutByComments(
  document: Document.Parsed,
  source: string,
): { offset: number; comment: string }[] {
  const cut: { offset: number; comment: string }[] = [];
  visit(document, {
    Scalar(_key, { type, value, range }) {
      if (type !== 'PLAIN' || typeof value !== 'string' || !range) return;
      const [comment] = /^[ \t]+#[^\s#].*/.exec(source.slice(range[1])) ?? [];
      if (comment) cut.push({ offset: range[0], comment: comment.trimEnd() });
    },
  });
  return cut;
}

/**
 * Returns a sentence for a fault that zod has found. Zod's own sentences about wrong types are replaced, because they use
 * programmers' words.
 */
function sentenceFor(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message;
  if (issue.code !== 'invalid_type' || issue.message.startsWith('must be')) return issue.message;
  const { expected, input } = issue;
  if (input === undefined) return 'is missing';
  if (expected === 'string')
    return input === null
      ? 'is empty. A text with # must be in quotes'
      : 'must be text. A number, a date, true, false, or a text with ": " or {} must be in quotes';
  if (expected === 'boolean') return 'must be true or false';
  if (input === null) return 'is empty';
  if (expected === 'array') return 'must be a list, each line of which begins with "- "';
  if (expected === 'object') return 'must have settings of its own, each on a line that is indented further';
  return issue.message;
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
  // A join whose programme the file no longer has continues in the default programme.
  const presentKey = (key: string) => (Object.hasOwn(programmes, key) ? key : defaultProgramme);
  const byId = new Map(catalogue.map((product) => [product.id, product]));
  const offers = catalogue.filter(({ retired }) => !retired);
  const openProgrammes = Object.keys(programmes).filter((key) => !programmes[key]!.retired);
  return {
    ...data,
    crm: { ...data.crm, fields: { ...defaultFieldRules, ...data.crm.fields } },
    donations: { maximumCents: data.donations.maximum },
    programmes,
    catalogue,
    offers,
    defaultProgramme,
    openProgrammes,
    product: (id) => byId.get(id),
    offer: (by) => offers.find((product) => ('id' in by ? product.id === by.id : product.uuid === by.uuid)),
    linkOffer: (id) =>
      offers.find(
        (product) =>
          product.id === id && (product.type !== 'membership' || openProgrammes.includes(product.programme!)),
      ),
    programme: (key) => programmes[presentKey(key)]!,
    memberships: (key) =>
      offers.filter(({ type, programme }) => type === 'membership' && programme === presentKey(key)),
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
