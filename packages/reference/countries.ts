import data from 'country-region-data/data.json' with { type: 'json' };
import { type Country, countryFinder } from './lookup.ts';

/** All countries with all subdivisions (220 kB). To save that, the page loads only the part in `apps/web/lib/countries.ts`. */
export const countries: readonly Country[] = data.map((country) => ({
  name: country.countryName,
  code: country.countryShortCode,
  subdivisions: country.regions.map((region: { name: string; shortCode?: string }) => ({
    name: region.name,
    code: region.shortCode && region.shortCode !== 'undefined' ? region.shortCode : null,
  })),
}));

export const findCountry = countryFinder(countries);
