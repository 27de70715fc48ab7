import { useEffect, useState } from 'react';
import { within } from '#client/within.ts';
import type { CountryRule } from '#core/studentDetails.ts';
import { countryFinder, type Subdivision } from '#reference/lookup.ts';
import type { BundledCountries } from '../build/countries.ts';

/** The bundled countries, which the build inserts here (build/countries.ts). */
declare const COUNTRIES: BundledCountries;

const { countries, options, address } = COUNTRIES;

export { countries };
/**
 * The options of the country list: all names under which people look for a country. Each name is its own value, since several
 * names can mean one country.
 */
export const countryOptions = options.map(({ label }) => ({ value: label, label }));

/** Returns the name of the country that an option stands for: "England" → "United Kingdom". */
export function countryOfOption(option: string): string {
  return options.find(({ label }) => label === option)?.name ?? '';
}

export const findCountry = countryFinder(countries);
type Country = (typeof countries)[number];

/**
 * Returns the facts about a country that the validation in packages/core needs. `name` is the full name; undefined for an unknown
 * country.
 */
export function countryRule(name: string): CountryRule | undefined {
  const country = findCountry(name);
  if (country?.name !== name) return undefined;
  const subdivisions = known(country)?.map((subdivision) => subdivision.name) ?? null;
  return { hasSubdivisions: subdivisions?.length !== 0, subdivisions };
}

const fetched = new Map<string, readonly Subdivision[]>();

function known(country: Country): readonly Subdivision[] | undefined {
  return country.subdivisions ?? fetched.get(country.code);
}

/**
 * Returns a country's subdivisions, and fetches them if they are not bundled. Returns null if the fetch failed; the next call then
 * fetches again.
 */
export async function subdivisionsOf(country: Country): Promise<readonly Subdivision[] | null> {
  const there = known(country);
  if (there) return there;
  try {
    const subdivisions = await within(async (signal) => {
      const response = await fetch(`${address}/${country.code}.json`, { signal });
      return response.ok ? ((await response.json()) as readonly Subdivision[]) : null;
    });
    if (!subdivisions) return null;
    fetched.set(country.code, subdivisions);
    return subdivisions;
  } catch {
    return null;
  }
}

/**
 * Returns a country's subdivisions: 'loading' while they are fetched, null if the fetch failed, an empty array without a country.
 * After a failure, they are fetched again when `attempt` increases.
 */
export function useSubdivisions(
  country: Country | undefined,
  attempt: number,
): readonly Subdivision[] | 'loading' | null {
  const [missing, setMissing] = useState<Country | null>(null);
  const [, setArrived] = useState<Country | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt fetches again
  useEffect(() => {
    if (!country || known(country)) return;
    let current = true;
    void subdivisionsOf(country).then((subdivisions) => {
      if (current) (subdivisions ? setArrived : setMissing)(country);
    });
    return () => {
      current = false;
    };
  }, [country, attempt]);
  if (!country) return [];
  return known(country) ?? (missing === country ? null : 'loading');
}
