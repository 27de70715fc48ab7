import { createHash } from 'node:crypto';
import type { RsbuildPlugin } from '@rsbuild/core';
import { countries } from '../../../packages/reference/countries.ts';
import { countryOptions } from '../../../packages/reference/countryNames.ts';
import type { Country, Subdivision } from '../../../packages/reference/lookup.ts';

/** The country data in the bundled scripts: all countries, and the subdivisions of the countries where most joiners live. */
export interface BundledCountries {
  /** The subdivisions of a country without `subdivisions` are in a separate file. */
  countries: readonly { name: string; code: string; subdivisions?: readonly Subdivision[] }[];
  /** The options of the country list, which include other names of countries. `name` is the country's name. */
  options: readonly { label: string; name: string }[];
  /** The URL of the folder with the files `<code>.json`, each an array of subdivisions. */
  address: string;
}

const LIKELY = ['US', 'CA'];

function isBundled({ code, subdivisions }: Country): boolean {
  return LIKELY.includes(code) || subdivisions.length === 0;
}

export function bundledCountries(folder: string): BundledCountries {
  return {
    countries: countries.map((country) =>
      isBundled(country) ? country : { name: country.name, code: country.code },
    ),
    options: countryOptions(countries),
    address: `/${folder}`,
  };
}

/**
 * Bundles only the subdivisions of the countries where most joiners live, to keep the scripts small. For every other country,
 * this plugin writes a file with its subdivisions. All these files together have 42 kB (gzip), and a joiner needs at most one.
 */
export function pluginCountries(): RsbuildPlugin {
  const hash = createHash('sha256').update(JSON.stringify(countries)).digest('hex').slice(0, 10);
  const folder = `static/countries/${hash}`;
  return {
    name: 'countries',
    setup(api) {
      const define = { COUNTRIES: JSON.stringify(bundledCountries(folder)) };
      api.modifyRsbuildConfig((config, { mergeRsbuildConfig }) =>
        mergeRsbuildConfig(config, { source: { define } }),
      );
      api.processAssets({ stage: 'additional', environments: ['web'] }, ({ compilation, sources }) => {
        for (const country of countries) {
          if (isBundled(country)) continue;
          const json = JSON.stringify(country.subdivisions);
          compilation.emitAsset(`${folder}/${country.code}.json`, new sources.RawSource(json));
        }
      });
    },
  };
}
