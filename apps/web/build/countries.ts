import { createHash } from 'node:crypto';
import type { RsbuildPlugin } from '@rsbuild/core';
import { countries } from '../../../packages/reference/countries.ts';
import type { Country, Subdivision } from '../../../packages/reference/lookup.ts';

/** What `apps/web/lib/countries.ts` has from the start: every country, and the subdivisions of those that most joiners live in. */
export interface CountriesAtFirst {
  /** Without `subdivisions`: they are in a file. */
  countries: readonly { name: string; code: string; subdivisions?: readonly Subdivision[] }[];
  /** Of the folder with `<code>.json` for each of the others: an array of subdivisions. */
  address: string;
}

const LIKELY = ['US', 'CA'];

function isThereAtFirst({ code, subdivisions }: Country): boolean {
  return LIKELY.includes(code) || subdivisions.length === 0;
}

/** `folder` is where the files are. */
export function countriesAtFirst(folder: string): CountriesAtFirst {
  return {
    countries: countries.map((country) =>
      isThereAtFirst(country) ? country : { name: country.name, code: country.code },
    ),
    address: `/${folder}`,
  };
}

/** The subdivisions of the world are 42 kB with gzip, of which a joiner needs one country's: those are data, not script. */
export function pluginCountries(): RsbuildPlugin {
  const hash = createHash('sha256').update(JSON.stringify(countries)).digest('hex').slice(0, 10);
  const folder = `static/countries/${hash}`;
  return {
    name: 'countries',
    setup(api) {
      const define = { COUNTRIES: JSON.stringify(countriesAtFirst(folder)) };
      api.modifyRsbuildConfig((config, { mergeRsbuildConfig }) =>
        mergeRsbuildConfig(config, { source: { define } }),
      );
      api.processAssets({ stage: 'additional', environments: ['web'] }, ({ compilation, sources }) => {
        for (const country of countries) {
          if (isThereAtFirst(country)) continue;
          const json = JSON.stringify(country.subdivisions);
          compilation.emitAsset(`${folder}/${country.code}.json`, new sources.RawSource(json));
        }
      });
    },
  };
}
