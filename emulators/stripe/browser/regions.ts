/** The states, territories and armed forces regions of the US, by their postal abbreviations. */
const US =
  'AL Alabama|AK Alaska|AS American Samoa|AZ Arizona|AR Arkansas|AA Armed Forces (AA)|AE Armed Forces (AE)|' +
  'AP Armed Forces (AP)|CA California|CO Colorado|CT Connecticut|DE Delaware|DC District of Columbia|FL Florida|' +
  'GA Georgia|GU Guam|HI Hawaii|ID Idaho|IL Illinois|IN Indiana|IA Iowa|KS Kansas|KY Kentucky|LA Louisiana|ME Maine|' +
  'MH Marshall Islands|MD Maryland|MA Massachusetts|MI Michigan|FM Micronesia|MN Minnesota|MS Mississippi|MO Missouri|' +
  'MT Montana|NE Nebraska|NV Nevada|NH New Hampshire|NJ New Jersey|NM New Mexico|NY New York|NC North Carolina|' +
  'ND North Dakota|MP Northern Mariana Islands|OH Ohio|OK Oklahoma|OR Oregon|PW Palau|PA Pennsylvania|PR Puerto Rico|' +
  'RI Rhode Island|SC South Carolina|SD South Dakota|TN Tennessee|TX Texas|UT Utah|VT Vermont|VI Virgin Islands|' +
  'VA Virginia|WA Washington|WV West Virginia|WI Wisconsin|WY Wyoming';

const CA =
  'AB Alberta|BC British Columbia|MB Manitoba|NB New Brunswick|NL Newfoundland and Labrador|NT Northwest Territories|' +
  'NS Nova Scotia|NU Nunavut|ON Ontario|PE Prince Edward Island|QC Quebec|SK Saskatchewan|YT Yukon';

/**
 * Countries that the form offers when the page does not limit them. Listed here because the browser's own names take a phone 70
 * ms to load.
 */
const COUNTRIES =
  'AR Argentina|AT Austria|AU Australia|BE Belgium|BG Bulgaria|BR Brazil|CA Canada|CH Switzerland|CL Chile|CN China|' +
  'CO Colombia|CY Cyprus|CZ Czechia|DE Germany|DK Denmark|EE Estonia|ES Spain|FI Finland|FR France|' +
  'GB United Kingdom|GR Greece|HK Hong Kong SAR China|HR Croatia|HU Hungary|ID Indonesia|IE Ireland|IL Israel|' +
  'IN India|IS Iceland|IT Italy|JP Japan|KE Kenya|KR South Korea|LT Lithuania|LU Luxembourg|LV Latvia|MT Malta|' +
  'MX Mexico|MY Malaysia|NG Nigeria|NL Netherlands|NO Norway|NZ New Zealand|PE Peru|PH Philippines|PL Poland|' +
  'PT Portugal|RO Romania|SE Sweden|SG Singapore|SI Slovenia|SK Slovakia|TH Thailand|TR Türkiye|TW Taiwan|' +
  'UA Ukraine|US United States|VN Vietnam|ZA South Africa';

type Choice = readonly [string, string];

/** Returns the subdivisions to choose from in an address of the country; none when the field is free text. */
export function regionsOf(country: string): Choice[] {
  const list = country === 'US' ? US : country === 'CA' ? CA : '';
  return list === '' ? [] : choicesOf(list);
}

const countries = choicesOf(COUNTRIES);

export function countriesOf(allowed: readonly string[] | null | undefined): Choice[] {
  return (allowed?.length ? allowed : countries.map(([code]) => code))
    .map((code) => [code, countries.find(([known]) => known === code)?.[1] ?? code] as const)
    .sort((a, b) => Number(b[0] === 'US') - Number(a[0] === 'US') || (a[1] < b[1] ? -1 : 1));
}

function choicesOf(list: string): Choice[] {
  return list.split('|').map((entry) => [entry.slice(0, 2), entry.slice(3)] as const);
}

/** Returns what is wrong with a postal code; undefined when it is right, or its country has no rule here. */
export function postalFault(country: string, code: string): string | undefined {
  const forms: Record<string, RegExp> = { US: /^\d{5}(-\d{4})?$/, CA: /^[A-Z]\d[A-Z] ?\d[A-Z]\d$/i };
  if (forms[country] === undefined || forms[country].test(code)) return undefined;
  return country === 'US' ? 'Your ZIP code is incomplete.' : 'Your postal code is incomplete.';
}
