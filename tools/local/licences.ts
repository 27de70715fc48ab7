/** The decisions on licences in tools/local/licences.json. */
export interface Decisions {
  /** SPDX expressions as packages state them. */
  allowed: string[];
  /** Packages with another licence or none (null) that are accepted, with the reason. */
  accepted: { package: string; licence: string | null; why: string }[];
}

/** The parts of package-lock.json that are read here: packages by their path, the project itself as ''. */
export interface Lockfile {
  packages: Record<string, { name?: string; version?: string; license?: string }>;
}

/**
 * Returns a sentence for each package whose licence is missing or not allowed, and for each accepted exception that no package
 * needs.
 */
export function licenceFaults({ packages }: Lockfile, { allowed, accepted }: Decisions): string[] {
  const others = Object.entries(packages)
    .filter(([path, { license }]) => path !== '' && !allowed.includes(license ?? ''))
    .map(([path, { name, version, license = null }]) => ({
      name: name ?? path.split('node_modules/').at(-1)!,
      version,
      licence: license,
    }));
  const isMeant = (each: Decisions['accepted'][number], { name, licence }: (typeof others)[number]) =>
    each.package === name && each.licence === licence;
  return [
    ...others
      .filter((other) => !accepted.some((each) => isMeant(each, other)))
      .map(
        ({ name, version, licence }) =>
          `${name} ${version}: ${licence === null ? 'names no licence' : `the licence ${licence} is not among those allowed`} (tools/local/licences.json).`,
      ),
    ...accepted
      .filter((each) => !others.some((other) => isMeant(each, other)))
      .map(
        (each) => `tools/local/licences.json accepts a licence of ${each.package}, which no package needs.`,
      ),
  ];
}
