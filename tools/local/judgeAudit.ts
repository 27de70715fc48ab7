/** The decisions on licences and findings in tools/local/audit.json. */
export interface AuditDecisions {
  licences: {
    /** SPDX identifiers that any package may have. */
    allowed: string[];
    /** Packages with another licence or none (null) that are accepted, with the reason. */
    accepted: { package: string; licence: string | null; why: string }[];
  };
  /** Findings of `npm audit` that are accepted up to and including a day (YYYY-MM-DD, UTC), by their id (GHSA-…). */
  findings: { id: string; why: string; until: string }[];
}

/** The parts of package-lock.json that are read here: packages by their path, the project itself as ''. */
export interface Lockfile {
  packages: Record<string, { name?: string; version?: string; license?: string; link?: boolean }>;
}

/**
 * Returns a sentence for each installed package whose licence is missing, unreadable or not allowed, and for each accepted
 * exception that no package needs. Of `A OR B` one licence must be allowed, of `A AND B` both.
 */
export function licenceFaults(
  { packages }: Lockfile,
  { allowed, accepted }: AuditDecisions['licences'],
): string[] {
  const faults = new Set<string>();
  const needed = new Set<object>();
  for (const [path, { name, version, license = null, link }] of Object.entries(packages)) {
    if (path === '' || link) continue;
    const own = name ?? path.split('node_modules/').at(-1)!;
    if (license !== null && isAllowed(license, allowed)) continue;
    const acceptance = accepted.find((each) => each.package === own && each.licence === license);
    if (acceptance) needed.add(acceptance);
    else
      faults.add(
        `${own} ${version}: ${license === null ? 'names no licence' : `the licence ${license} is not among those allowed`} (tools/local/audit.json).`,
      );
  }
  for (const each of accepted)
    if (!needed.has(each))
      faults.add(`tools/local/audit.json accepts a licence of ${each.package}, which no package needs.`);
  return [...faults];
}

/**
 * Returns a line for each licence, the most frequent first: its SPDX expression, and the packages that have it with their versions.
 */
export function licenceList({ packages }: Lockfile): string[] {
  const byLicence = new Map<string, Set<string>>();
  for (const [path, { name, version, license = 'no licence named', link }] of Object.entries(packages)) {
    if (path === '' || link) continue;
    const known = byLicence.get(license) ?? new Set();
    byLicence.set(license, known.add(`${name ?? path.split('node_modules/').at(-1)!} ${version}`));
  }
  return [...byLicence]
    .sort(([, a], [, b]) => b.size - a.size)
    .map(([licence, names]) => `${licence}: ${[...names].sort().join(', ')}`);
}

/**
 * Whether an SPDX expression is allowed. It may have identifiers, AND, OR and brackets, where AND binds before OR; anything else
 * is not allowed.
 */
function isAllowed(expression: string, allowed: readonly string[]): boolean {
  const tokens = expression.match(/[()]|[^\s()]+/g) ?? [];
  const either = (): boolean => {
    let result = both();
    while (tokens[0] === 'OR') {
      tokens.shift();
      result = both() || result;
    }
    return result;
  };
  const both = (): boolean => {
    let result = one();
    while (tokens[0] === 'AND') {
      tokens.shift();
      result = one() && result;
    }
    return result;
  };
  const one = (): boolean => {
    const token = tokens.shift() ?? '';
    if (token !== '(') return allowed.includes(token);
    const result = either();
    return tokens.shift() === ')' && result;
  };
  return either() && tokens.length === 0;
}

/** The output of `npm audit --json`. `via` has advisories, and the names of packages through which an advisory applies. */
interface AuditReport {
  auditReportVersion: 2;
  vulnerabilities: Record<
    string,
    { via: (string | { url: string; title: string; severity: string; name: string })[] }
  >;
}

/**
 * Returns a sentence for each finding of severity high or critical that is not accepted, or was accepted only until a day that is
 * over. Returns null when the text is not a report, because the registry did not answer or does not audit.
 */
export function findingFaults(
  printed: string,
  accepted: AuditDecisions['findings'],
  now: Date,
): string[] | null {
  const report = readReport(printed);
  if (report === null) return null;
  const today = now.toISOString().slice(0, 10);
  const faults = new Set<string>();
  for (const { via } of Object.values(report.vulnerabilities))
    for (const advisory of via) {
      if (typeof advisory === 'string' || !['high', 'critical'].includes(advisory.severity)) continue;
      const id = advisory.url.split('/').at(-1)!;
      const acceptance = accepted.find((each) => each.id === id);
      if (acceptance && acceptance.until >= today) continue;
      const ended = acceptance ? ` It was accepted until ${acceptance.until}.` : '';
      faults.add(`${advisory.name}: ${advisory.severity}: ${advisory.title} (${advisory.url}).${ended}`);
    }
  return [...faults];
}

function readReport(printed: string): AuditReport | null {
  try {
    const report = JSON.parse(printed);
    return report?.auditReportVersion === 2 && report.vulnerabilities ? report : null;
  } catch {
    return null;
  }
}
