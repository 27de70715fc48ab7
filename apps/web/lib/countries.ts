import { useEffect, useState } from 'react';
import { countryFinder, type Subdivision } from '#reference/lookup.ts';
import type { CountriesAtFirst } from '../build/countries.ts';

/** The build writes it here: build/countries.ts. */
declare const COUNTRIES: CountriesAtFirst;

const { countries, address } = COUNTRIES;

export { countries };
export const findCountry = countryFinder(countries);
type Country = (typeof countries)[number];

/** For core's rules: whether a country, by its full name, exists and has subdivisions. */
export function countryRule(name: string): { hasSubdivisions: boolean } | undefined {
  const country = findCountry(name);
  return country?.name === name ? { hasSubdivisions: country.subdivisions?.length !== 0 } : undefined;
}

const fetched = new Map<string, readonly Subdivision[]>();

function known(country: Country): readonly Subdivision[] | undefined {
  return country.subdivisions ?? fetched.get(country.code);
}

/** A country's subdivisions; null when they cannot be had, and then the next call asks again. */
export async function subdivisionsOf(country: Country): Promise<readonly Subdivision[] | null> {
  const there = known(country);
  if (there) return there;
  try {
    const response = await fetch(`${address}/${country.code}.json`);
    if (!response.ok) return null;
    const subdivisions = (await response.json()) as readonly Subdivision[];
    fetched.set(country.code, subdivisions);
    return subdivisions;
  } catch {
    return null;
  }
}

/** Its subdivisions as a screen has them: 'coming' while they are fetched, null when they cannot be had. */
export function useSubdivisions(country: Country | undefined): readonly Subdivision[] | 'coming' | null {
  const [missing, setMissing] = useState<Country | null>(null);
  const [, setArrived] = useState<Country | null>(null);
  useEffect(() => {
    setMissing(null);
    if (!country || known(country)) return;
    let current = true;
    void subdivisionsOf(country).then((subdivisions) => {
      if (current) (subdivisions ? setArrived : setMissing)(country);
    });
    return () => {
      current = false;
    };
  }, [country]);
  if (!country) return [];
  return known(country) ?? (missing === country ? null : 'coming');
}
