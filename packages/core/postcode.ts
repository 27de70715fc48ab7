/**
 * The ZIP codes that begin with a zero, which spreadsheets remove: the first and last value of their first three digits, and the
 * state. A town's ZIP code may belong to the neighbouring state. The joiner is then asked to check it.
 */
const zeroZips: readonly [from: number, to: number, state: string][] = [
  [5, 5, 'New York'],
  [6, 7, 'Puerto Rico'],
  [8, 8, 'Virgin Islands'],
  [9, 9, 'Puerto Rico'],
  [10, 27, 'Massachusetts'],
  [28, 29, 'Rhode Island'],
  [30, 38, 'New Hampshire'],
  [39, 49, 'Maine'],
  [50, 54, 'Vermont'],
  [55, 55, 'Massachusetts'],
  [56, 59, 'Vermont'],
  [60, 69, 'Connecticut'],
  [70, 89, 'New Jersey'],
  [90, 99, 'Armed Forces Europe, Canada, Africa and Middle East'],
];

/** The first letters of each province's postcodes. */
const canadianLetters: Readonly<Record<string, string>> = {
  'Newfoundland and Labrador': 'A',
  'Nova Scotia': 'B',
  'Prince Edward Island': 'C',
  'New Brunswick': 'E',
  Quebec: 'GHJ',
  Ontario: 'KLMNP',
  Manitoba: 'R',
  Saskatchewan: 'S',
  Alberta: 'T',
  'British Columbia': 'V',
  'Northwest Territories': 'X',
  Nunavut: 'X',
  Yukon: 'Y',
};

/** An address's country and state by their full names. The state is empty if it is unknown. */
export interface PostcodePlace {
  country: string;
  state: string;
}

/**
 * Returns a postcode as the country's post office writes it: "k1a0b6" → "K1A 0B6", "78701 1234" → "78701-1234". Corrects only
 * unambiguous errors: the letters O, I and l in place of digits; ".0" or an apostrophe from a spreadsheet; and leading zeros that
 * a spreadsheet removed, if the state is unknown or has the resulting ZIP code ("2139" in Massachusetts → "02139"). A postcode of
 * any other form or country is returned unchanged, since the specification has no rule for it.
 */
export function tidyPostcode(typed: string, place: PostcodePlace): string {
  if (place.country === 'United States') return zipOf(typed, place.state) ?? typed;
  if (place.country === 'Canada') return canadianOf(typed, place.state) ?? typed;
  return typed;
}

/**
 * Returns the question about a postcode that does not look like one of its country; null if there is none. The specification has
 * no rule that refuses such a postcode.
 */
export function postcodeQuestion(typed: string, place: PostcodePlace): string | null {
  if (typed === '' || isPostcode(tidyPostcode(typed, place), place)) return null;
  if (place.country === 'United States') return 'Is this right? A ZIP code has five digits.';
  if (place.country === 'Canada') return 'Is this right? Postal codes look like K1A 0B6.';
  return null;
}

/** Whether a postcode of the United States or Canada, after {@link tidyPostcode}, has its country's form. */
export function isPostcode(postcode: string, { country, state }: PostcodePlace): boolean {
  if (country === 'United States') return /^\d{5}(-\d{4})?$/.test(postcode);
  return /^[A-Z]\d[A-Z] \d[A-Z]\d$/.test(postcode) && isOfProvince(postcode, state);
}

function zipOf(typed: string, state: string): string | null {
  const digits = typed
    .normalize('NFKC')
    .replace(/^'/, '')
    .replace(/\.0+$/, '')
    .replace(/[Oo]/g, '0')
    .replace(/[Il|]/g, '1')
    .replace(/^(\d{1,2}),(\d{3})$/, '$1$2')
    .replace(/^[\s\p{Dash}]*(.*[^\s\p{Dash}])?.*$/su, '$1');
  const [, five, four] =
    /^(\d{5})[\s\p{Dash}]*(\d{4})$/u.exec(digits) ??
    /^(\d{3,5})[\s\p{Dash}]+(\d{4})$/u.exec(digits) ??
    /^(\d{4})(\d{4})$/.exec(digits) ??
    /^(\d{3,5})$/.exec(digits.replace(/[\s\p{Dash}]/gu, '')) ??
    [];
  if (five === undefined) return null;
  const zip = five.padStart(5, '0');
  const isComplete = five.length === 5;
  if (!isComplete && !isOfState(zip, state)) return null;
  return four === undefined ? zip : `${zip}-${four}`;
}

/** Whether a ZIP code that begins with a zero can be of the state, or the state is unknown. */
function isOfState(zip: string, state: string): boolean {
  const area = Number(zip.slice(0, 3));
  const found = zeroZips.find(([from, to]) => area >= from && area <= to);
  return found !== undefined && (state === '' || found[2] === state);
}

function canadianOf(typed: string, state: string): string | null {
  const letters = typed
    .normalize('NFKC')
    .replace(/[\s\p{Dash}.']/gu, '')
    .toUpperCase();
  if (letters.length !== 6) return null;
  const mended = [...letters].map((letter, index) =>
    index % 2 === 0 ? letter : letter.replace('O', '0').replace(/[IL]/, '1'),
  );
  const postcode = `${mended.slice(0, 3).join('')} ${mended.slice(3).join('')}`;
  const isAsTyped = mended.join('') === letters;
  return /^[A-Z]\d[A-Z] \d[A-Z]\d$/.test(postcode) && (isAsTyped || isOfProvince(postcode, state))
    ? postcode
    : null;
}

function isOfProvince(postcode: string, province: string): boolean {
  return canadianLetters[province]?.includes(postcode[0]!) ?? true;
}
