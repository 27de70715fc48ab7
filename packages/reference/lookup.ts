/**
 * A country and its subdivisions. In the source data a code may be missing, empty or the literal text "undefined" (specification,
 * section 3). Therefore a subdivision's value is always its name, and its code is used only to find the subdivision.
 */
export interface Country {
  name: string;
  /** The two-letter code (ISO 3166-1). */
  code: string;
  subdivisions: readonly Subdivision[];
}
export interface Subdivision {
  name: string;
  code: string | null;
}

/** The default country (specification, section 2). */
export const DEFAULT_COUNTRY = 'United States';

/** Returns a function that finds a country by its name or two-letter code, ignoring case. */
export function countryFinder<One extends { name: string; code: string }>(
  countries: readonly One[],
): (nameOrCode: string) => One | undefined {
  const byKey = new Map<string, One>();
  for (const country of countries) {
    byKey.set(key(country.name), country);
    byKey.set(key(country.code), country);
  }
  return (nameOrCode) => byKey.get(key(nameOrCode));
}

/**
 * Finds a country's subdivision by its name or code in the spellings that people use. Case, accents and dots are ignored. The
 * beginning of a name is enough if it has at least four letters and only one name starts with it ("Quebec", "Québec", "QC", "N.Y.",
 * "Calif.", "PEI").
 */
export function findSubdivision(
  country: Pick<Country, 'code' | 'subdivisions'>,
  nameOrCode: string,
): Subdivision | undefined {
  const given = plain(nameOrCode);
  if (given === '') return undefined;
  const wanted = shortNames[`${country.code} ${given}`] ?? given;
  const known = plainNames(country);
  const exact =
    known.find(({ name }) => name === wanted)?.subdivision ??
    known.find(({ code }) => code === wanted)?.subdivision;
  if (exact || wanted.length < 4) return exact;
  const cut = known.filter(({ name }) => name.startsWith(wanted) && name[wanted.length] !== ' ');
  return cut.length === 1 ? cut[0]!.subdivision : undefined;
}

interface PlainName {
  name: string;
  code: string | null;
  subdivision: Subdivision;
}

const plainNamesOf = new WeakMap<readonly Subdivision[], PlainName[]>();

/** Returns the names of a country's subdivisions in the form for comparing. They are computed on first use. */
function plainNames({ subdivisions }: Pick<Country, 'subdivisions'>): PlainName[] {
  let names = plainNamesOf.get(subdivisions);
  if (!names) {
    names = subdivisions.map((subdivision) => ({
      name: plain(subdivision.name),
      code: subdivision.code === null ? null : plain(subdivision.code),
      subdivision,
    }));
    plainNamesOf.set(subdivisions, names);
  }
  return names;
}

/**
 * Common names of subdivisions that the data has neither as names nor as codes, and that the search by the beginning of a name
 * does not find. A key is the country's code, a space, and such a name in the form of {@link plain}.
 */
const shortNames: Record<string, string> = {
  'US washington dc': 'district of columbia',
  'US washington d c': 'district of columbia',
  'CA pei': 'prince edward island',
  'CA newfoundland': 'newfoundland and labrador',
  'CA labrador': 'newfoundland and labrador',
  'CA nwt': 'northwest territories',
  'CA yukon territory': 'yukon',
};

function plain(text: string): string {
  return key(text.replace(/\./g, '').replace(/[,\s]+/g, ' '));
}

function key(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').trim().toLowerCase();
}
