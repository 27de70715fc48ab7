import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countries, findCountry } from './countries.ts';
import { countryOptions } from './countryNames.ts';

/** Spellings of countries by code, as people, forms and spreadsheets write them. */
const spellings: Record<string, string> = {
  AE: 'UAE|U.A.E.',
  AG: 'Antigua & Barbuda',
  AT: 'Österreich',
  AU: 'Commonwealth of Australia',
  AX: 'Aland Islands',
  BA: 'Bosnia|Bosnia & Herzegovina',
  BE: 'België|Belgique|Belgien',
  BL: 'St. Barthélemy',
  BN: 'Brunei',
  BO: 'Bolivia (Plurinational State of)|Plurinational State of Bolivia',
  BR: 'Brasil|Federative Republic of Brazil',
  BS: 'The Bahamas|Bahamas, The|Bahamas (the)|Commonwealth of the Bahamas',
  CA: 'CAN|can',
  CD: 'Congo (the Democratic Republic of the)|Congo, Dem. Rep.|Congo, The Democratic Republic of the|Congo - Kinshasa|Democratic Republic of Congo|D.R. Congo',
  CG: 'Congo|Congo (the)|Congo-Brazzaville',
  CH: 'Schweiz|Suisse|Swiss Confederation',
  CI: "Ivory Coast|Côte d'Ivoire|Cote D’Ivoire|Côte d‘Ivoire",
  CN: "People's Republic of China|P.R. China|P.R.C.|中国",
  CV: 'Cabo Verde',
  CW: 'Curaçao|Curacao',
  CZ: 'Czechia|Czech Republic (the)',
  DE: 'Deutschland|Federal Republic of Germany|DEU',
  DK: 'Danmark',
  DM: 'Dominica',
  DO: 'Dominican Republic (the)',
  EG: 'مصر',
  ES: 'España|Kingdom of Spain',
  FI: 'Suomi',
  FK: 'Falkland Islands|Falkland Islands (the) [Malvinas]',
  FM: 'Micronesia (Federated States of)',
  GB: 'England|Great Britain|United Kingdom of Great Britain and Northern Ireland (the)|U.K.|GBR|Royaume-Uni|Reino Unido',
  GE: 'Georgia',
  GM: 'Gambia|The Gambia',
  GN: 'Guinea',
  GR: 'Ελλάδα',
  GW: 'Guinea Bissau|Guiné-Bissau',
  HK: 'Hong Kong SAR China|Hong Kong S.A.R., China|Hong Kong, China|香港',
  HT: 'Haïti|Ayiti',
  HU: 'Magyarország',
  IE: 'Éire|Republic of Ireland',
  IL: 'ישראל|State of Israel',
  IN: 'भारत',
  IR: 'Iran (Islamic Republic of)|Iran',
  IS: 'Ísland',
  IT: 'Italia',
  JP: '日本',
  KN: 'St Kitts & Nevis',
  KP: "North Korea|DPRK|Korea, Democratic People's Republic of|Korea (the Democratic People's Republic of)",
  KR: '한국|South Korea|Korea, South|Republic of Korea|Korea (South)|Korea, Rep.|Korea (the Republic of)|대한민국|Corée du Sud|Corea del Sur|Südkorea',
  LA: "Lao People's Democratic Republic|Lao PDR",
  LC: 'St. Lucia',
  MD: 'Moldova, Republic of|Republic of Moldova',
  MF: 'Saint Martin (French part)',
  MK: 'Macedonia|North Macedonia|The former Yugoslav Republic of Macedonia',
  MM: 'Myanmar (Burma)|Burma',
  MO: 'Macao S.A.R.|Macau SAR',
  MX: 'México|United Mexican States',
  NE: 'Niger (the)',
  NL: 'The Netherlands|Netherlands (the)|Netherlands (Kingdom of the)|Holland|Nederland',
  NO: 'Norge',
  PA: 'Panamá',
  PE: 'Perú',
  PG: 'Papua New Guinea',
  PH: 'Republic of the Philippines|Philippines (the)',
  PL: 'Polska',
  PN: 'Pitcairn Islands',
  PS: 'Palestine, State of|Palestinian Territories',
  RE: 'Reunion',
  RU: 'Russia|Россия',
  SD: 'Sudan (the)',
  SE: 'Sverige',
  SH: 'Saint Helena',
  ST: 'Sao Tome & Principe|São Tomé and Príncipe',
  SX: 'Sint Maarten',
  SY: 'Syria|Syrian Arab Republic (the)',
  SZ: 'Swaziland',
  TC: 'Turks & Caicos',
  TH: 'ไทย',
  TL: 'East Timor|Timor',
  TR: 'Türkiye|TURKIYE|Turkey / Türkiye',
  TT: 'Trinidad & Tobago',
  TW: 'Taiwan, Province of China|Taiwan (Republic of China)|Taiwan, R.O.C.|Republic of China|臺灣|台灣|台湾',
  TZ: 'Tanzania|United Republic of Tanzania',
  UA: 'Україна',
  US: 'U.S.|U.S.A.|United States of America (the)|United States of America|US|U S A|u.s|Untied States|The United States|Estados Unidos|Estados Unidos (EE. UU.)|États-Unis|Vereinigte Staaten|Verenigde Staten|USA (United States)|United States (US)',
  VA: 'Holy See',
  VC: 'Saint Vincent & the Grenadines',
  VE: 'Venezuela (Bolivarian Republic of)',
  VG: 'Virgin Islands (British)',
  VI: 'Virgin Islands (U.S.)',
  VN: 'Viet Nam|Việt Nam',
  WF: 'Wallis & Futuna',
  WS: 'Samoa|Western Samoa',
  XK: 'Kosovo',
  ZA: 'ZAF',
};

for (const [code, texts] of Object.entries(spellings))
  test(`${texts}: all are ${code}`, () => {
    for (const text of texts.split('|'))
      for (const written of [text, text.toUpperCase(), ` ${text} `])
        assert.equal(findCountry(written)?.code, code, written);
  });

test('a text that is no country, or perhaps two, is none, and never a default', () => {
  const none =
    '|Korea|Virgin Islands|Atlantis|German Democratic Republic|Nowhere|Texas|n/a|Other|Earth|Svalbard';
  for (const text of none.split('|')) assert.equal(findCountry(text), undefined, text);
});

test('every name that English, French, German, Spanish, Chinese and Arabic have for a country finds it', () => {
  for (const language of ['en', 'fr', 'de', 'es', 'zh', 'ar']) {
    const names = new Intl.DisplayNames([language], { type: 'region' });
    for (const { code } of countries) assert.equal(findCountry(names.of(code)!)?.code, code, names.of(code)!);
  }
});

test('the choice has the names under which people look for a country, in the order of the alphabet', () => {
  const options = countryOptions(countries);
  const valueFor = (beginning: string) => options.find(({ label }) => label.startsWith(beginning))?.name;
  assert.equal(valueFor('South K'), 'Korea, Republic of');
  assert.equal(valueFor('Engl'), 'United Kingdom');
  assert.equal(valueFor('Russia'), 'Russian Federation');
  assert.equal(valueFor('Türk'), 'Turkey');
  assert.equal(valueFor('Turkiye'), 'Turkey');
  assert.equal(valueFor('Czechia'), 'Czech Republic');
  assert.equal(valueFor('Ivory'), "Côte d'Ivoire, Republic of");
  const labels = options.map(({ label }) => label);
  assert.deepEqual(
    labels,
    labels.toSorted((a, b) => a.localeCompare(b, 'en')),
  );
  assert.equal(new Set(labels).size, labels.length);
  for (const { label, name } of options) assert.equal(findCountry(label)?.name, name, label);
});
