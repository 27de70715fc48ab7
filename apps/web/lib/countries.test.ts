import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundledCountries } from '../build/countries.ts';

/** Defines the global COUNTRIES, as the build does for the page's scripts. */
Object.assign(globalThis, { COUNTRIES: bundledCountries('static/countries/hash') });
const { countries, countryRule, findCountry, subdivisionsOf } = await import('./countries.ts');

test('a country is known to the rules by its full name only, with its subdivisions or before they have come', () => {
  assert.ok(countryRule('United States')?.subdivisions?.includes('Texas'));
  assert.equal(countryRule('US'), undefined);
  assert.deepEqual(countryRule('Chile'), { hasSubdivisions: true, subdivisions: null });
  assert.equal(countryRule('Nowhere'), undefined);
});

test('the likely countries bring their subdivisions, the others are asked for once, and again after a failure', async (t) => {
  const asked: string[] = [];
  const answers = [new Response('', { status: 503 }), Response.json([{ name: 'Bavaria', code: 'BY' }])];
  t.mock.method(globalThis, 'fetch', async (address: string) => {
    asked.push(address);
    return answers.shift()!;
  });
  const germany = findCountry('DE')!;
  assert.equal(await subdivisionsOf(germany), null);
  assert.deepEqual(await subdivisionsOf(germany), [{ name: 'Bavaria', code: 'BY' }]);
  assert.deepEqual(await subdivisionsOf(germany), [{ name: 'Bavaria', code: 'BY' }]);
  assert.deepEqual(countryRule('Germany'), { hasSubdivisions: true, subdivisions: ['Bavaria'] });
  assert.deepEqual(asked, Array(2).fill('/static/countries/hash/DE.json'));
  assert.equal((await subdivisionsOf(findCountry('US')!))?.length, findCountry('US')!.subdivisions!.length);
  assert.ok(countries.filter(({ subdivisions }) => subdivisions === undefined).length > 150);
});
