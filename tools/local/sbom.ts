import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { browsers, packagesImportedBy, sourcesIn } from './packages.ts';

/** The parts of a CycloneDX document that are read here. */
interface Bom {
  components: { 'bom-ref': string; name: string }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

const root = resolve(import.meta.dirname, '../..');

/**
 * Prints a CycloneDX list of every package in the image. `npm sbom` lists the server's installed packages;
 * devDependencies that are bundled into the pages are shipped as well, so they are added.
 */
const bom: Bom = JSON.parse(
  execFileSync('npm', ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  }),
);
const { name, version, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const shipped = new Set([...Object.keys(dependencies), ...packagesImportedBy(sourcesIn(browsers))]);
const dependsOn = new Map(bom.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
const nameOf = new Map(bom.components.map((component) => [component['bom-ref'], component.name]));
const own = `${name}@${version}`;
const kept = new Set<string>();
const waiting = (dependsOn.get(own) ?? []).filter((ref) => shipped.has(nameOf.get(ref)!));
for (let ref = waiting.pop(); ref !== undefined; ref = waiting.pop()) {
  if (kept.has(ref)) continue;
  kept.add(ref);
  waiting.push(...(dependsOn.get(ref) ?? []));
}
console.log(
  JSON.stringify(
    {
      ...bom,
      components: bom.components.filter((component) => kept.has(component['bom-ref'])),
      dependencies: bom.dependencies
        .filter(({ ref }) => ref === own || kept.has(ref))
        .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => kept.has(each)) })),
    },
    null,
    2,
  ),
);
