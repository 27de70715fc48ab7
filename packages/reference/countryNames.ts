/**
 * The other names of each country in the list, by its two-letter code: first the three-letter code (ISO 3166-1; XKX is in common
 * use), then English names, including former ones, and short forms in other languages. Other names in other languages come from
 * Node.
 */
const others: Readonly<Record<string, string>> = {
  AF: 'AFG',
  AX: 'ALA',
  AL: 'ALB',
  DZ: 'DZA',
  AS: 'ASM|Samoa American',
  AD: 'AND',
  AO: 'AGO',
  AI: 'AIA',
  AQ: 'ATA',
  AG: 'ATG|Antigua|Barbuda',
  AR: 'ARG|Argentine Republic',
  AM: 'ARM',
  AW: 'ABW',
  AU: 'AUS',
  AT: 'AUT',
  AZ: 'AZE',
  BS: 'BHS',
  BH: 'BHR',
  BD: 'BGD',
  BB: 'BRB',
  BY: 'BLR|Byelorussia|White Russia',
  BE: 'BEL',
  BZ: 'BLZ|British Honduras',
  BJ: 'BEN|Dahomey',
  BM: 'BMU',
  BT: 'BTN',
  BO: 'BOL',
  BQ: 'BES|Caribbean Netherlands|Bonaire|Sint Eustatius|Saba|Dutch Caribbean',
  BA: 'BIH|Bosnia|Herzegovina|Bosnia-Herzegovina|BiH',
  BW: 'BWA|Bechuanaland',
  BV: 'BVT',
  BR: 'BRA',
  IO: 'IOT|Chagos Islands|Diego Garcia',
  BN: 'BRN|Brunei|Nation of Brunei|Brunei Darussalam Negara',
  BG: 'BGR',
  BF: 'BFA|Upper Volta',
  BI: 'BDI',
  KH: 'KHM|Kampuchea',
  CM: 'CMR',
  CA: 'CAN|Dominion of Canada',
  CV: 'CPV|Cabo Verde|Cape Verde Islands',
  KY: 'CYM|Caymans',
  CF: 'CAF|CAR|Central Africa',
  TD: 'TCD',
  CL: 'CHL',
  CN: "CHN|People's Republic of China|PRC|PR China|Mainland China|China Mainland|China PR",
  CX: 'CXR',
  CC: 'CCK|Cocos Islands|Keeling Islands|Cocos Keeling',
  CO: 'COL',
  KM: 'COM|Union of the Comoros|Comoro Islands',
  CG: 'COG|Congo|Republic of the Congo|Republic of Congo|Congo Brazzaville|Congo Republic|French Congo',
  CD: 'COD|Democratic Republic of the Congo|Democratic Republic of Congo|DR Congo|DRC|RDC|Congo Kinshasa|Congo DR|Congo DRC|Congo Dem Rep|Congo Democratic Republic|Congo Democratic Republic of|Congo Democratic Republic of the|Congo the Democratic Republic of|Congo the Democratic Republic of the|Dem Rep Congo|Dem Rep of Congo|Dem Rep of the Congo|Zaire|Belgian Congo',
  CK: 'COK',
  CR: 'CRI',
  CI: 'CIV|Ivory Coast|Cote dIvoire|Republic of Cote dIvoire|Cote d Ivoire|Republic of Ivory Coast',
  HR: 'HRV|Hrvatska',
  CU: 'CUB',
  CW: 'CUW|Country of Curacao',
  CY: 'CYP',
  CZ: 'CZE|Czechia|Czech|Cesko|Cechy|Ceska republika|CR Czech',
  DK: 'DNK|Kingdom of Denmark',
  DJ: 'DJI',
  DM: 'DMA|Commonwealth of Dominica',
  DO: 'DOM|Dominican Rep|Santo Domingo',
  EC: 'ECU',
  EG: 'EGY|Misr',
  SV: 'SLV|Salvador',
  GQ: 'GNQ|Spanish Guinea',
  ER: 'ERI',
  EE: 'EST|Eesti',
  ET: 'ETH|Abyssinia',
  FK: 'FLK|Falkland Islands|Falklands|Malvinas|Islas Malvinas|Falkland Islands Malvinas',
  FO: 'FRO|Faroes|Faeroe Islands|Faroe',
  FJ: 'FJI|Fiji Islands',
  FI: 'FIN',
  FR: 'FRA|French Republic|Metropolitan France|France Metropolitan',
  GF: 'GUF|Guyane',
  PF: 'PYF|Tahiti',
  TF: 'ATF|French Southern Territories|TAAF',
  GA: 'GAB',
  GM: 'GMB',
  GE: 'GEO|Sakartvelo',
  DE: 'DEU|GER|West Germany|East Germany|BRD|FRG|Bundesrepublik Deutschland',
  GH: 'GHA|Gold Coast',
  GI: 'GIB',
  GR: 'GRC|Hellas|Hellenic Republic|Ellada',
  GL: 'GRL',
  GD: 'GRD',
  GP: 'GLP',
  GU: 'GUM',
  GT: 'GTM',
  GG: 'GGY|Bailiwick of Guernsey',
  GN: 'GIN|Guinea Conakry|French Guinea',
  GW: 'GNB|Portuguese Guinea',
  GY: 'GUY|British Guiana|Co-operative Republic of Guyana',
  HT: 'HTI|Ayiti',
  HM: 'HMD|Heard and McDonald Islands',
  VA: 'VAT|Vatican|Vatican City|Vatican City State|Holy See|State of the Vatican City|Holy See Vatican City State',
  HN: 'HND',
  HK: 'HKG|香港|Hong Kong SAR|Hong Kong SAR China|Hong Kong China|Hong Kong SAR PRC|China Hong Kong|Hong Kong Special Administrative Region|Hong Kong Special Administrative Region of China|HKSAR|Hongkong|HK SAR',
  HU: 'HUN|Magyarorszag',
  IS: 'ISL',
  IN: 'IND|Bharat|Hindustan',
  ID: 'IDN|Dutch East Indies',
  IR: 'IRN|Iran|Persia|IRI',
  IQ: 'IRQ',
  IE: 'IRL|Eire|Republic of Ireland|Irish Republic|Southern Ireland|Ireland Republic of|Ireland Republic',
  IM: 'IMN|Man',
  IL: 'ISR',
  IT: 'ITA|Italian Republic|Italia',
  JM: 'JAM',
  JP: 'JPN|Nippon|Nihon',
  JE: 'JEY|Bailiwick of Jersey',
  JO: 'JOR|Hashemite Kingdom of Jordan',
  KZ: 'KAZ|Kazakstan',
  KE: 'KEN',
  KI: 'KIR|Gilbert Islands',
  KP: "PRK|North Korea|N Korea|Korea North|DPRK|Democratic People's Republic of Korea|Korea DPR|Korea DPRK|Korea Democratic People's Republic|Korea Democratic People's Republic of|Korea the Democratic People's Republic of|Korea Dem People's Rep|Korea Dem People's Rep of|North Korean",
  KR: 'KOR|한국|South Korea|S Korea|Korea South|ROK|Republic of Korea|Korea Republic|Korea Rep|Korea Rep of|Korea the Republic of|Korea ROK|South Korean',
  XK: 'XKX|XKK|Kosova|RKS|Kosovo UN',
  KW: 'KWT',
  KG: 'KGZ|Kirghizia|Kirgizstan|Kyrgyz Republic|Kirgistan',
  LA: "LAO|Lao|Lao PDR|Lao People's Democratic Republic|People's Democratic Republic of Laos|Laos PDR",
  LV: 'LVA',
  LB: 'LBN|Lebanese Republic',
  LS: 'LSO|Basutoland',
  LR: 'LBR',
  LY: 'LBY|Libyan Arab Jamahiriya|Libyan Republic',
  LI: 'LIE',
  LT: 'LTU|Lietuva',
  LU: 'LUX|Letzebuerg',
  MO: 'MAC|澳門|澳门|Macau|Macao SAR|Macau SAR|Macao SAR China|Macau SAR China|Macau China|Macao China|China Macao|China Macau|Macao Special Administrative Region|Macau Special Administrative Region|Macao Special Administrative Region of China|Macau Special Administrative Region of China',
  MK: 'MKD|Macedonia|North Macedonia|FYROM|FYR Macedonia|Former Yugoslav Republic of Macedonia|Macedonia FYR|Macedonia the Former Yugoslav Republic of|Macedonia North|Republic of Macedonia',
  MG: 'MDG|Malagasy Republic',
  MW: 'MWI|Nyasaland',
  MY: 'MYS|Malaya',
  MV: 'MDV|Maldive Islands',
  ML: 'MLI|French Sudan',
  MT: 'MLT',
  MH: 'MHL|Marshalls',
  MQ: 'MTQ',
  MR: 'MRT',
  MU: 'MUS',
  YT: 'MYT',
  MX: 'MEX|United Mexican States|Mexican United States|Estados Unidos Mexicanos|Mejico',
  FM: 'FSM|Micronesia|Federated States of Micronesia',
  MD: 'MDA|Moldavia',
  MC: 'MCO',
  MN: 'MNG|Outer Mongolia',
  ME: 'MNE|Crna Gora',
  MS: 'MSR',
  MA: 'MAR',
  MZ: 'MOZ|Portuguese East Africa',
  MM: 'MMR|Burma|Union of Myanmar|Union of Burma',
  NA: 'NAM|South West Africa',
  NR: 'NRU',
  NP: 'NPL',
  NL: 'NLD|Holland|NED|Kingdom of the Netherlands',
  NC: 'NCL',
  NZ: 'NZL|Aotearoa|Aotearoa New Zealand|New Zealand Aotearoa',
  NI: 'NIC',
  NE: 'NER',
  NG: 'NGA',
  NU: 'NIU',
  NF: 'NFK',
  MP: 'MNP|Saipan|CNMI|Northern Marianas|Commonwealth of the Northern Mariana Islands',
  NO: 'NOR',
  OM: 'OMN|Muscat and Oman',
  PK: 'PAK',
  PW: 'PLW|Belau',
  PS: 'PSE|State of Palestine|Palestinian Territories|Palestinian Territory|Palestine State of|Palestinian Territory Occupied|Occupied Palestinian Territory|Occupied Palestinian Territories|West Bank|Gaza|Gaza Strip|West Bank and Gaza|Palestinian Authority',
  PA: 'PAN',
  PG: 'PNG|Papua|Independent State of Papua New Guinea',
  PY: 'PRY',
  PE: 'PER',
  PH: 'PHL|Philippine Islands|PHI|Republika ng Pilipinas',
  PN: 'PCN|Pitcairn Islands|Pitcairn Island',
  PL: 'POL',
  PT: 'PRT|Portuguese Republic',
  PR: 'PRI|Porto Rico|Commonwealth of Puerto Rico',
  QA: 'QAT',
  RE: 'REU|Reunion Island',
  RO: 'ROU|ROM|Rumania|Roumania',
  RU: 'RUS|Russia|Rossiya|Rossija|Russian Fed|Soviet Union|USSR|Russian Republic',
  RW: 'RWA',
  BL: 'BLM|Saint Barths|Saint Barth|Saint Barts',
  SH: 'SHN|Saint Helena|Ascension|Ascension Island|Tristan da Cunha',
  KN: 'KNA|Saint Kitts|Nevis|Saint Christopher and Nevis|Saint Kitts Nevis',
  LC: 'LCA',
  MF: 'MAF|Saint Martin French part|Saint Martin French|French Saint Martin',
  PM: 'SPM',
  VC: 'VCT|Saint Vincent|Grenadines|Saint Vincent and Grenadines|Saint Vincent Grenadines',
  WS: 'WSM|Western Samoa|Independent State of Samoa',
  SM: 'SMR',
  ST: 'STP|Sao Tome|Principe|Saint Thomas and Prince',
  SA: 'SAU|KSA|Saudi|Kingdom of Saudi Arabia',
  SN: 'SEN',
  RS: 'SRB|Srbija',
  SC: 'SYC|Seychelles Islands',
  SL: 'SLE',
  SG: 'SGP',
  SX: 'SXM|Sint Maarten|Saint Maarten|Saint Martin Dutch part|Saint Martin Dutch|Dutch Saint Martin',
  SK: 'SVK|Slovak Republic',
  SI: 'SVN',
  SB: 'SLB|Solomons',
  SO: 'SOM',
  ZA: 'ZAF|RSA|Republic of South Africa|S Africa',
  GS: 'SGS|South Georgia and the South Sandwich Islands|South Georgia',
  SS: 'SSD',
  ES: 'ESP|Espana',
  LK: 'LKA|Ceylon|Democratic Socialist Republic of Sri Lanka',
  SD: 'SDN',
  SR: 'SUR|Surinam|Dutch Guiana',
  SZ: 'SWZ|Swaziland|eSwatini|Kingdom of Eswatini|Kingdom of Swaziland',
  SE: 'SWE',
  CH: 'CHE|Swiss Confederation|SUI|Confoederatio Helvetica',
  SY: 'SYR|Syria',
  TW: 'TWN|臺灣|Taiwan ROC|Taiwan Republic of China|Republic of China|Republic of China Taiwan|ROC|ROC Taiwan|Taiwan Province of China|Province of Taiwan|Taiwan China|Chinese Taipei|Formosa',
  TJ: 'TJK|Tadjikistan|Tadzhikistan',
  TZ: 'TZA|Tanzania|Tanganyika|Zanzibar',
  TH: 'THA|Siam',
  TL: 'TLS|East Timor|Timor|Timor Leste|TMP',
  TG: 'TGO|Togolese Republic|Togoland',
  TK: 'TKL',
  TO: 'TON',
  TT: 'TTO|Trinidad|Tobago|Trinidad Tobago|T and T',
  TN: 'TUN',
  TR: 'TUR|Turkiye|Turkiye Cumhuriyeti',
  TM: 'TKM|Turkmenia',
  TC: 'TCA|Turks and Caicos|Turks Caicos',
  TV: 'TUV|Ellice Islands',
  UG: 'UGA',
  UA: 'UKR|Ukraina',
  AE: 'ARE|UAE|Emirates|Arab Emirates|Abu Dhabi|Dubai|United Arab Emirate',
  GB: 'GBR|UK|Great Britain|Britain|England|Scotland|Wales|Northern Ireland|N Ireland|United Kingdom of Great Britain and Northern Ireland|United Kingdom of Great Britain|United Kingdom Great Britain|Great Britain and Northern Ireland|GB UK|UK GB|Cymru|Ulster|British Isles|England UK|Scotland UK|Wales UK|Northern Ireland UK',
  US: 'USA|America|United States of America|US of A|United States America|The States|United State|Unites States|Untied States|United Sates|Estados Unidos de America|EEUU|EE UU|Etats Unis d Amerique',
  UM: 'UMI|US Minor Outlying Islands|US Outlying Islands|United States Outlying Islands',
  UY: 'URY|Oriental Republic of Uruguay|Eastern Republic of Uruguay',
  UZ: 'UZB',
  VU: 'VUT|New Hebrides',
  VE: 'VEN|Venezuela',
  VN: 'VNM|Viet Nam|Socialist Republic of Vietnam|South Vietnam|North Vietnam',
  VG: 'VGB|British Virgin Islands|BVI|Virgin Islands UK|Virgin Islands British',
  VI: 'VIR|US Virgin Islands|USVI|Virgin Islands US|United States Virgin Islands|Virgin Islands of the United States|American Virgin Islands|Virgin Islands United States',
  WF: 'WLF|Wallis|Futuna|Wallis and Futuna Islands',
  EH: 'ESH|Sahrawi Arab Democratic Republic|Spanish Sahara',
  YE: 'YEM',
  ZM: 'ZMB|Northern Rhodesia',
  ZW: 'ZWE|Rhodesia|Southern Rhodesia',
};

/** The languages in which names of countries are recognised. Node provides the names. */
const languages =
  'en am ar az be bg bn bs ca cs cy da de el es et eu fa fi fil fr ga gl gu he hi hr hu hy id is it ja ka kk km kn ko lo lt lv mk ml mn mr ms my nb ne nl pa pl pt ro ru si sk sl so sq sr sv sw ta te th tr uk ur uz vi zh zh-Hant zu'.split(
    ' ',
  );

/** A comparable form of a name: no accents, case, punctuation and articles, and one spelling of "and" and "Saint". */
export function nameKey(text: string): string {
  return (
    text
      // Initials: "U.S.A.", "P. R."
      .replace(/(?<!\p{L})\p{L}(?:[.\s]+\p{L}(?!\p{L}))+\.?/gu, (initials) => initials.replace(/[.\s]/g, ''))
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .replace(/ı/g, 'i')
      .replace(/ø/g, 'o')
      .replace(/[’'‘`ʻʼ´]/g, '')
      .replace(/&/g, ' and ')
      .replace(/[^\p{L}\p{N}]+/gu, ' ')
      .replace(/(^| )st(e)?(?= )/g, '$1saint')
      .replace(/(^| )(rep|dem|fed|is|isl)(?= |$)/g, (_, start: string, short: string) => start + long[short])
      .replace(/(^| )the(?= |$)/g, '')
      .replace(/\s+/g, ' ')
      .trim()
  );
}
const long: Record<string, string> = {
  rep: 'republic',
  dem: 'democratic',
  fed: 'federal',
  is: 'islands',
  isl: 'islands',
};

/** The forms of government before a country's name: "Republic of", "Islamic Republic of", "Kingdom of". */
const GOVERNMENT =
  /^(?:(?:federal|federative|federated|islamic|arab|peoples|democratic|socialist|plurinational|bolivarian|cooperative|co operative|united|independent|oriental|sovereign|hashemite|grand) )*(?:republic|kingdom|commonwealth|states?|principality|duchy|sultanate|federation|union|emirate|confederation|nation|territory|dominion) of /;
/** Names that mean another country, or either of two, if the form of government is left out. */
const NEEDS_GOVERNMENT = ['congo', 'korea', 'china'];

interface Listed {
  name: string;
  code: string;
}

/** Returns a function that finds a country in the list by any name that people or files use for it. */
export function otherNameFinder<One extends Listed>(
  countries: readonly One[],
): (text: string) => One | undefined {
  const byKey = new Map<string, One>();
  const add = (text: string, country: One) => {
    const key = nameKey(text);
    if (!byKey.has(key)) byKey.set(key, country);
  };
  for (const country of countries) for (const text of [country.name, country.code]) add(text, country);
  for (const country of countries)
    for (const text of others[country.code]?.split('|') ?? []) add(text, country);

  /** Names in other languages. They are only made when first needed, since this takes some 150 ms. */
  let translated: Map<string, One> | undefined;
  const named = (key: string) => {
    const known = byKey.get(key);
    if (known) return known;
    translated ??= translatedNames(countries);
    return translated.get(key);
  };

  return (text) => {
    const key = nameKey(text);
    if (key === '') return undefined;
    const direct = named(key);
    if (direct) return direct;
    // "Korea, Republic of", "Iran (Islamic Republic of)"
    const [, last, first] = /^([^,(]+)[,(]\s*([^,()]* of(?: the)?)\)?$/iu.exec(text.trim()) ?? [];
    const turned = first === undefined ? key : nameKey(`${first} ${last}`);
    const found = named(turned);
    if (found) return found;
    const short = turned.replace(GOVERNMENT, '');
    if (short !== turned) return NEEDS_GOVERNMENT.includes(short) ? undefined : named(short);
    // "Myanmar (Burma)", "Turkey / Türkiye": two names of one country.
    const parts = text.split(/[()/,;–—]| - /).flatMap((part) => nameKey(part) || []);
    const [one, ...more] = parts.map(named);
    return more.length > 0 && more.every((other) => other === one) ? one : undefined;
  };
}

/** Returns the names in all {@link languages} that belong to only one country. */
function translatedNames<One extends Listed>(countries: readonly One[]): Map<string, One> {
  const names = new Map<string, One | null>();
  for (const language of languages) {
    const display = new Intl.DisplayNames([language], { type: 'region', fallback: 'none' });
    for (const country of countries) {
      const text = display.of(country.code);
      if (text === undefined) continue;
      const key = nameKey(text);
      names.set(key, names.has(key) && names.get(key) !== country ? null : country);
    }
  }
  return new Map([...names].flatMap(([key, country]) => (country ? [[key, country]] : [])));
}

/**
 * Names under which people look for a country in a list, by its code. Only names that begin with other letters than the list's
 * own name, which would not be found otherwise.
 */
const soughtNames: Readonly<Record<string, string>> = {
  AE: 'UAE',
  AX: 'Aland Islands',
  BL: 'St. Barts',
  CD: 'DR Congo|Democratic Republic of the Congo',
  CG: 'Republic of the Congo',
  CI: 'Ivory Coast|Cote d’Ivoire',
  CV: 'Cabo Verde',
  CW: 'Curacao',
  CZ: 'Czechia',
  GB: 'England|Great Britain|Northern Ireland|Scotland|UK|Wales',
  KN: 'St. Kitts and Nevis',
  KP: 'North Korea',
  KR: 'South Korea|Republic of Korea',
  LC: 'St. Lucia',
  MF: 'St. Martin',
  MK: 'North Macedonia',
  MM: 'Burma',
  MO: 'Macau',
  NL: 'Holland|The Netherlands',
  PM: 'St. Pierre and Miquelon',
  RE: 'Reunion',
  RU: 'Russia',
  SH: 'St. Helena',
  SX: 'St. Maarten',
  SZ: 'Swaziland',
  TL: 'East Timor',
  TR: 'Türkiye|Turkiye',
  US: 'America|USA|U.S.A.',
  VA: 'Vatican City',
  VC: 'St. Vincent and the Grenadines',
  VG: 'British Virgin Islands',
  VI: 'U.S. Virgin Islands|US Virgin Islands',
  VN: 'Viet Nam',
};

/**
 * Returns the options of a list of countries, in the order of their labels: each country under its name and under the other names
 * by which people look for it. `name` is the country's name.
 */
export function countryOptions(countries: readonly Listed[]): { label: string; name: string }[] {
  return countries
    .flatMap(({ name, code }) =>
      [name, ...(soughtNames[code]?.split('|') ?? [])].map((label) => ({ label, name })),
    )
    .sort((a, b) => a.label.localeCompare(b.label, 'en'));
}
