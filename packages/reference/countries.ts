import data from 'country-region-data/data.json' with { type: 'json' };
import { otherNameFinder } from './countryNames.ts';
import { type Country, countryFinder } from './lookup.ts';

/**
 * All countries with all subdivisions (220 kB). To save bytes, the page loads the list in `apps/web/lib/countries.ts` instead.
 */
export const countries: readonly Country[] = data.map((country) => ({
  name: country.countryName,
  code: country.countryShortCode,
  subdivisions: country.regions.map((region: { name: string; shortCode?: string }) => ({
    name: region.name,
    code: region.shortCode && region.shortCode !== 'undefined' ? region.shortCode : null,
  })),
}));

/** Finds a country by its name or code in the list. Pages only know these. */
export const findListed = countryFinder(countries);
const findByOtherName = otherNameFinder(countries);

/** Finds a country by any name that people or files use for it: "South Korea", "GBR", "Deutschland". */
export function findCountry(text: string): Country | undefined {
  return findListed(text) ?? findByOtherName(text);
}

/** Returns the facts about a country that the rules of Student Details need, by its full name; undefined if it does not exist. */
export function countryRule(
  name: string,
): { hasSubdivisions: boolean; subdivisions: readonly string[] } | undefined {
  const found = findCountry(name);
  if (found?.name !== name) return undefined;
  const subdivisions = found.subdivisions.map((subdivision) => subdivision.name);
  return { hasSubdivisions: subdivisions.length > 0, subdivisions };
}
