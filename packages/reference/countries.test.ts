import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countries, findCountry } from './countries.ts';
import { findSubdivision } from './lookup.ts';

const subdivision = (country: string, text: string) => findSubdivision(findCountry(country)!, text)?.name;

test("a contact's country is found by its name or code, in any case", () => {
  assert.equal(findCountry('US')?.name, 'United States');
  assert.equal(findCountry('united states')?.code, 'US');
  assert.equal(findCountry(' Canada ')?.code, 'CA');
  assert.equal(findCountry('Nowhere'), undefined);
});

test("a contact's state is found by its name or code, with or without accents", () => {
  assert.equal(subdivision('US', 'TX'), 'Texas');
  assert.equal(subdivision('US', 'texas'), 'Texas');
  assert.equal(subdivision('CA', 'Québec'), 'Quebec');
  assert.equal(subdivision('CA', 'QC'), 'Quebec');
  assert.equal(subdivision('US', 'N.Y.'), 'New York');
  assert.equal(subdivision('US', 'Calif.'), 'California');
  assert.equal(subdivision('US', 'Washington, D.C.'), 'District of Columbia');
  assert.equal(subdivision('CA', 'P.E.I.'), 'Prince Edward Island');
  assert.equal(subdivision('CA', 'Newfoundland'), 'Newfoundland and Labrador');
  assert.equal(subdivision('US', 'Miss'), undefined, 'Mississippi or Missouri');
  assert.equal(subdivision('US', 'West'), undefined, 'half a name is none');
  assert.equal(subdivision('US', ''), undefined);
  assert.equal(subdivision('US', 'undefined'), undefined);
});

test('codes that are absent, empty or the text "undefined" are no codes', () => {
  const codes = countries.flatMap(({ subdivisions }) => subdivisions.map(({ code }) => code));
  assert.ok(codes.includes(null), 'the data has such codes');
  assert.ok(!codes.includes('') && !codes.includes('undefined'));
  const margaMarga = findCountry('Chile')!.subdivisions.find(({ name }) => name.startsWith('Marga'));
  assert.deepEqual(margaMarga?.code, null);
});

test('every country has a name and a two-letter code, once', () => {
  assert.equal(new Set(countries.map(({ code }) => code)).size, countries.length);
  assert.ok(countries.every(({ name, code }) => name !== '' && /^[A-Z]{2}$/.test(code)));
});
