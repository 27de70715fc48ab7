import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  type AuditDecisions,
  findingFaults,
  type Lockfile,
  licenceFaults,
  licenceList,
} from './judgeAudit.ts';

/**
 * `npm run audit`: checks the licences of all packages in the lockfile, and the known vulnerabilities of those that run in
 * production. The licences need no network; `--list` prints the packages of each licence. If the registry's findings cannot be
 * fetched, the command says so, but does not fail for that.
 */

const root = resolve(import.meta.dirname, '../..');
const {
  values: { decisions: file, lockfile, list },
} = parseArgs({
  options: {
    decisions: { type: 'string', default: join(import.meta.dirname, 'audit.json') },
    lockfile: { type: 'string', default: join(root, 'package-lock.json') },
    list: { type: 'boolean', default: false },
  },
});
const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const decisions = read(file) as AuditDecisions;
const packages = read(lockfile) as Lockfile;

const licences = licenceFaults(packages, decisions.licences);
if (licences.length === 0)
  console.log(`The licences of ${Object.keys(packages.packages).length - 1} packages are allowed.`);
if (list) for (const line of licenceList(packages)) console.log(`  ${line}`);

const { stdout } = spawnSync(
  'npm',
  ['audit', '--omit=dev', '--json', '--fetch-retries=0', '--fetch-timeout=20000', '--loglevel=silent'],
  { cwd: root, encoding: 'utf8', timeout: 60_000, maxBuffer: 64 * 1024 * 1024 },
);
const findings = findingFaults(stdout ?? '', decisions.findings, new Date());
if (findings === null)
  console.log(
    'Not looked up: the package registry cannot be reached, or does not say what is known against packages.',
  );
else if (findings.length === 0) console.log('Nothing severe is known against the packages that run.');

const faults = [...licences, ...(findings ?? [])];
for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
