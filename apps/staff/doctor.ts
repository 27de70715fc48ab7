import type { Config } from '../server/platform/config/config.ts';
import type { ResolveTxt } from '../server/running/doctor/askMail.ts';
import { examine, type StandIns, standInsOf } from '../server/running/doctor/examine.ts';
import type { Finding } from '../server/running/doctor/finding.ts';
import { findingsOf } from '../server/running/doctor/findings.ts';
import { loneCommand } from './command.ts';
import { printAll } from './print.ts';
import { remedySentence } from './sentences/failures.ts';

export const doctorCommands = [
  loneCommand({
    usage: 'doctor',
    summary: 'Check the settings against Stripe, HubSpot and the database, and name what is missing.',
    async run({ config }) {
      const { report, status } = await diagnose(config);
      printAll(report.split('\n'));
      return status === 0;
    },
  }),
];

/** Runs all checks. Returns the report and the exit status: 0 if nothing is missing, otherwise 1. */
export async function diagnose(
  config: Config,
  standIns: StandIns = standInsOf(config),
  resolveTxt?: ResolveTxt,
): Promise<{ report: string; status: 0 | 1 }> {
  const findings = findingsOf(await examine(config, standIns, resolveTxt));
  const status = findings.some(({ standing }) => standing === 'missing') ? 1 : 0;
  return { report: written(findings, standIns), status };
}

/** Returns the report: which providers are stand-ins, a line for each finding, and the number of things that are missing. */
function written(findings: readonly Finding[], standIns: StandIns): string {
  const width = Math.max(...findings.map(({ standing }) => standing.length));
  const count = (standing: Finding['standing']) =>
    findings.filter((finding) => finding.standing === standing).length;
  const names = [standIns.stripe && 'Stripe', standIns.hubspot && 'HubSpot'].filter(Boolean);
  const missing = count('missing');
  const unchecked = count('could not be checked');
  return [
    ...(names.length > 0
      ? [
          `${names.join(' and ')}: ${names.length > 1 ? 'stand-ins' : 'a stand-in'} on this machine. What follows says nothing about a real account.\n`,
        ]
      : []),
    ...findings.map(
      ({ standing, about, text, remedies }) =>
        `${standing.padEnd(width)}  ${about}: ${text}${remedySentence(...remedies)}`,
    ),
    '',
    (missing === 0
      ? 'Nothing is missing.'
      : `${missing} ${missing === 1 ? 'thing is' : 'things are'} missing.`) +
      (unchecked === 0 ? '' : ` ${unchecked} could not be checked.`),
  ].join('\n');
}
