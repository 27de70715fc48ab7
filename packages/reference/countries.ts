import data from 'country-region-data/data.json' with { type: 'json' };
import { type Country, countryFinder } from './lookup.ts';

/**
 * All countries with all subdivisions (220 kB). To save bytes, the page does not load this list, but `apps/web/lib/countries.ts`.
 */
export const countries: readonly Country[] = data.map((country) => ({
  name: country.countryName,
  code: country.countryShortCode,
  subdivisions: country.regions.map((region: { name: string; shortCode?: string }) => ({
    name: region.name,
    code: region.shortCode && region.shortCode !== 'undefined' ? region.shortCode : null,
  })),
}));

export const findCountry = countryFinder(countries);
