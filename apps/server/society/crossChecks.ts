import { contrastFaults } from '#core/contrast.ts';
import { type FontStyle, unprintableIn } from './glyphs.ts';
import type { SocietyFile } from './schema.ts';
import { placeholders } from './texts.ts';

/** The placeholders that texts on papers may have. Papers show no fees or discounts. */
const OF_PAPERS = ['product', 'society', 'email', 'phone'];

/** The placeholders that a text may have, by the text's path in the file. */
const FILLED: readonly [path: RegExp, known: readonly string[]][] = [
  [
    /^programmes\.[^.]+\.(guardianConsent|payerConsent|eligibility|refund|upgradeRefund|pages)\b/,
    placeholders,
  ],
  [/^pages\.(getStarted\.lead|questions\.\d+\.text|studentDetails\.(invited|nominated))$/, placeholders],
  [/^pages\.studentDetails\.invitedThroughSchool$/, [...placeholders, 'school']],
  [/^pages\.studentDetails\.nominatedBy$/, [...placeholders, 'nominatedBy']],
  [/^society\.(independence|deductibility)$/, placeholders],
  [/^pages\.getStarted\.facts\.\d+\.text$/, ['price', 'refund']],
  [/^store\.(text|delivery)$/, placeholders],
  [/^pages\.hardship$/, placeholders],
  [/^certificate\.citation$|^pressRelease\./, OF_PAPERS],
];

/**
 * Returns the faults that the schema cannot find:
 * - colours with too little contrast, ids used twice, and wrong references between programmes and products;
 * - settings that are missing, do not fit the type of product, contradict each other, or need another setting;
 * - unknown placeholders, and letters that cannot be printed on papers.
 */
export function crossFaults(data: SocietyFile): { path: PropertyKey[]; text: string }[] {
  const faults: { path: PropertyKey[]; text: string }[] = [];
  const add = (path: PropertyKey[], text: string) => faults.push({ path, text });
  const find = (id: number) => data.catalogue.find((product) => product.id === id);
  for (const { colour, text } of contrastFaults(data.society.colours))
    add(['society', 'colours', colour], text);
  if (Object.keys(data.programmes).length === 0) add(['programmes'], 'must have at least one programme');
  const [first] = Object.entries(data.programmes);
  if (first?.[1].retired)
    add(
      ['programmes', first[0], 'retired'],
      'the first programme is the default one, and cannot be retired: put another one before it',
    );
  for (const [key, { defaultMembership }] of Object.entries(data.programmes)) {
    const product = find(defaultMembership);
    if (product?.type !== 'membership' || product.programme !== key)
      add(
        ['programmes', key, 'defaultMembership'],
        `product ${defaultMembership} is not a membership of this programme`,
      );
    else if (product.retired)
      add(['programmes', key, 'defaultMembership'], `product ${defaultMembership} is retired`);
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
    if (product.type !== 'donation' && product.does !== undefined)
      add([...path, 'does'], 'is only for donations');
    if (product.type !== 'membership_upgrade' && product.distinction !== undefined)
      add([...path, 'distinction'], 'is only for upgrades: a membership is what the certificate is for');
    if (product.type === 'donation_other' && product.price !== undefined)
      add([...path, 'price'], 'the joiner gives this amount');
    if (product.type === 'donation_other' && product.retired)
      add([...path, 'type'], 'the donation of any amount cannot be retired');
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
  if (data.letters.reminders && data.letters.postalAddress === undefined)
    add(
      ['letters', 'reminders'],
      'needs letters.postalAddress: who is written to unasked is told where the sender lives',
    );
  for (const { path, text, style = 'regular' } of printedTexts(data)) {
    const missing = unprintableIn(text, style);
    if (missing.length > 0)
      add(
        path,
        `has ${missing.join(' ')}, which cannot be printed on certificates and press releases: their typeface has Latin, Greek and Cyrillic letters`,
      );
  }
  for (const { path, text } of textsOf(data)) {
    const known = FILLED.find(([of]) => of.test(path.join('.')))?.[1];
    for (const [whole, name] of text.matchAll(/\{([^{}]*)\}/g))
      if (!known) add(path, `${whole} is not filled in here: this text has no placeholders`);
      else if (!known.includes(name!))
        add(path, `${whole} is not known here; there are {${known.join('}, {')}}`);
  }
  return faults;
}

/**
 * Returns the society's texts that are printed on certificates and press releases, each with its font style unless that is
 * regular.
 */
function printedTexts(data: SocietyFile): { path: PropertyKey[]; text: string; style?: FontStyle }[] {
  const { why, quote, about } = data.pressRelease;
  const texts: { path: PropertyKey[]; text: string | undefined; style?: FontStyle }[] = [
    { path: ['society', 'name'], text: data.society.name },
    { path: ['society', 'supportPhone'], text: data.society.supportPhone },
    { path: ['society', 'links', 'whoWeAre'], text: data.society.links.whoWeAre },
    ...Object.entries(data.programmes).map(([key, { name }]) => ({
      path: ['programmes', key, 'name'],
      text: name,
    })),
    ...data.catalogue.map(({ distinction }, index) => ({
      path: ['catalogue', index, 'distinction'],
      text: distinction,
      style: 'italic' as const,
    })),
    { path: ['certificate', 'citation'], text: data.certificate.citation },
    ...data.certificate.signatures.flatMap(({ title, name }, index) => [
      { path: ['certificate', 'signatures', index, 'title'], text: title, style: 'italic' as const },
      { path: ['certificate', 'signatures', index, 'name'], text: name },
    ]),
    { path: ['pressRelease', 'why'], text: why },
    { path: ['pressRelease', 'quote', 'text'], text: quote?.text },
    { path: ['pressRelease', 'quote', 'by'], text: quote?.by },
    { path: ['pressRelease', 'about'], text: about },
  ];
  return texts.flatMap(({ text, ...rest }) => (text === undefined ? [] : [{ ...rest, text }]));
}

/** Returns all texts below a value, with their paths, except pictures. */
function textsOf(value: unknown, path: PropertyKey[] = []): { path: PropertyKey[]; text: string }[] {
  if (typeof value === 'string') return path.at(-1) === 'icon' ? [] : [{ path, text: value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, below]) => textsOf(below, [...path, key]));
}
