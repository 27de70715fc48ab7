import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type RealSubjects, realSubjects, SubjectFaults } from '../../emulators/shared/subjects.ts';
import type { Outcome as TestOutcome } from '../../tests/harness/outcomeReporter.ts';
import { runProgram } from '../../tools/local/checks.ts';

/**
 * `npm run lab -- drift`: checks whether the real providers still behave like the emulators. `npm test` runs the behaviour tests
 * against the emulators; this command runs them against test accounts, whose keys are in the environment (README.md).
 * Skips a provider without keys, and says so. Exits with 0 when all tests of the other providers passed.
 */

interface Provider {
  name: string;
  settings: string;
  files: string;
  /** The provider's URL; null without keys. */
  at: string | null;
  /** The environment variables with the provider's keys, which only its tests may see. */
  env: RegExp;
}
interface Outcome {
  line: string;
  summary: string;
  failed: boolean;
}

const root = resolve(import.meta.dirname, '../..');
const scratch = mkdtempSync(join(tmpdir(), 'induct-drift-'));
try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof SubjectFaults)) throw error;
  console.error(`Nothing was run:\n${error.faults.map((fault) => `  ${fault}`).join('\n')}`);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

async function main(): Promise<number> {
  const { stripe, hubspot } = realSubjects(process.env);
  if (hubspot) await assertTestAccount(hubspot);
  const providers: Provider[] = [
    {
      name: 'Stripe',
      settings: 'DRIFT_STRIPE_SECRET_KEY and DRIFT_STRIPE_PUBLISHABLE_KEY are not set',
      files: 'emulators/stripe/behaviour/*.test.ts',
      at: stripe && (stripe.url ?? 'https://api.stripe.com'),
      env: /^DRIFT_STRIPE_/,
    },
    {
      name: 'HubSpot',
      settings: 'DRIFT_HUBSPOT_ACCESS_TOKEN is not set',
      files: 'emulators/hubspot/behaviour/*.test.ts',
      at: hubspot ? hubspot.url : null,
      env: /^DRIFT_HUBSPOT_/,
    },
  ];
  const outcomes: Outcome[] = [];
  // One provider after the other and one file at a time, since an account has rate limits.
  for (const provider of providers) outcomes.push(await compare(provider));
  console.log(`\n${outcomes.map(({ line }) => `  ${line}`).join('\n')}`);
  console.log(`\n${outcomes.map(({ summary }) => summary).join('; ')}`);
  return outcomes.some(({ failed }) => failed) ? 1 : 0;
}

async function compare({ name, settings, files, at, env }: Provider): Promise<Outcome> {
  if (at === null)
    return {
      line: `${name.padEnd(8)}SKIPPED: ${settings}. Nothing was compared with the real ${name}.`,
      summary: `${name} SKIPPED`,
      failed: false,
    };
  console.log(`\n── ${name} at ${at}`);
  const output = join(scratch, `${name}.json`);
  const others = Object.entries(process.env).filter(([key]) => !key.startsWith('DRIFT_') || env.test(key));
  const succeeded = await runProgram(
    [
      '--disable-warning=ExperimentalWarning',
      '--test',
      '--test-concurrency=1',
      '--test-timeout=300000',
      '--test-reporter=./tests/harness/terseReporter.ts',
      '--test-reporter-destination=stdout',
      '--test-reporter=./tests/harness/outcomeReporter.ts',
      `--test-reporter-destination=${output}`,
      ...globSync(files, { cwd: root }).sort(),
    ],
    Object.fromEntries(others),
  );
  const { tests, passed } = (JSON.parse(readFileSync(output, 'utf8')) as TestOutcome).counts;
  // A skipped test and a run without tests compared nothing, so both count as failed.
  const failed = succeeded && passed > 0 ? tests - passed : Math.max(tests - passed, 1);
  const summary = `${name} ${passed} passed, ${failed} failed`;
  return {
    line: `${name.padEnd(8)}${passed} passed, ${failed} failed, at ${at}`,
    summary,
    failed: failed > 0,
  };
}

/**
 * Throws unless the token belongs to a test account or a sandbox. Asks HubSpot's API for that, since it cannot be seen from the
 * token.
 */
async function assertTestAccount({ url, accessToken }: NonNullable<RealSubjects['hubspot']>): Promise<void> {
  const refuse = (text: string) => new SubjectFaults([`DRIFT_HUBSPOT_ACCESS_TOKEN: ${text}`]);
  const response = await fetch(`${url}/account-info/2026-09/details`, {
    headers: { authorization: `Bearer ${accessToken}` },
    signal: AbortSignal.timeout(20_000),
  }).catch((error: Error) => {
    throw refuse(`HubSpot does not answer (${error.message}).`);
  });
  if (!response.ok)
    throw refuse(
      `HubSpot answers ${response.status} to the question what account this is. A test account's token is needed.`,
    );
  const { accountType } = (await response.json()) as { accountType?: string };
  if (accountType !== 'DEVELOPER_TEST' && accountType !== 'SANDBOX')
    throw refuse(
      `it is the token of a ${accountType} account. These tests create and archive contacts: they take a developer test account or a sandbox only.`,
    );
}
