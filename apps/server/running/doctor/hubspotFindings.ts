import type { Answer } from '../../providers/answer.ts';
import type { Facts } from './examine.ts';
import { about, type Finding, isForbidden, list, reasonOf } from './finding.ts';

const HUBSPOT_KEY = 'HubSpot: Development, Keys, Service keys, the key';
const HUBSPOT_PROPERTIES = 'HubSpot: Settings, Properties, Contact properties';

/** The scopes that the HubSpot token needs. `files` is needed only if documents are attached. */
const SCOPES = ['crm.objects.contacts.read', 'crm.objects.contacts.write', 'files'];

export function ofHubspot({
  hubspotVersion,
  attachDocuments,
  neededProperties,
  laterProperties,
  hubspot: { properties, contacts, scopes, tried, account },
  keptAccount,
  ruleRefusals,
}: Facts): Finding[] {
  const token = about('HubSpot token');
  const permissions = about('HubSpot scopes');
  const fields = about('HubSpot properties');
  const rest = about('The rest of HubSpot').unknown('Run this again once the line above is put right.');
  const down = [properties, contacts].find((answer) => 'down' in answer);
  if (down) return [token.missing(`HubSpot does not answer (${reasonOf(down)}). Try again.`), rest];
  const unauthorized = [properties, contacts].find(
    (answer) => 'refused' in answer && answer.refused.status === 401,
  );
  if (unauthorized)
    return [
      token.missing(
        `HubSpot refuses HUBSPOT_ACCESS_TOKEN (${reasonOf(unauthorized)}). Copy it again: ${HUBSPOT_KEY}, Show.`,
      ),
      rest,
    ];

  const needed = attachDocuments ? SCOPES : SCOPES.filter((scope) => scope !== 'files');
  const granted = 'said' in scopes ? scopes.said : null;
  const tries: Record<string, Answer<unknown> | undefined> = {
    'crm.objects.contacts.read': contacts,
    'crm.objects.contacts.write': tried?.write,
    files: tried?.files,
  };
  const lacking = needed.filter((scope) =>
    granted ? !granted.has(scope) : tries[scope] !== undefined && isForbidden(tries[scope]),
  );
  const untold = needed.filter((scope) => !granted && !(tries[scope] && 'said' in tries[scope]));
  const findings = [
    token.ok('HubSpot takes it.'),
    lacking.length > 0
      ? permissions.missing(`The key lacks ${list(lacking)}. Add them: ${HUBSPOT_KEY}, Scopes.`)
      : granted
        ? permissions.ok(`${list(needed)} are granted.`)
        : untold.length === 0
          ? permissions.ok(`Calls that want ${list(needed)} are answered.`)
          : permissions.unknown(
              `Whether ${list(untold)} ${untold.length === 1 ? 'is' : 'are'} granted shows here: ${HUBSPOT_KEY}, Scopes.`,
            ),
    ...ofAccount(account, keptAccount),
    ofRules(ruleRefusals),
  ];
  if (!('said' in properties))
    return [
      ...findings,
      fields.unknown(
        `The token may not list them (${reasonOf(properties)}). Grant crm.schemas.contacts.read: ${HUBSPOT_KEY}, Scopes.`,
      ),
    ];
  const { said: known } = properties;
  if (!known)
    return [
      ...findings,
      fields.missing(`HubSpot does not know API version ${hubspotVersion}. Correct HUBSPOT_API_VERSION.`),
    ];
  const absent = neededProperties.filter((name) => !known.has(name));
  return [
    ...findings,
    absent.length === 0
      ? fields.ok(`All ${neededProperties.length} that a join reads or writes exist.`)
      : fields.missing(
          `The account has no ${list(absent)}. Create ${absent.length === 1 ? 'it' : 'them'}: ${HUBSPOT_PROPERTIES}; their types: docs/reference.md, "HubSpot's properties". ${lackingMeans(absent, laterProperties)}`,
          ...(areLater(absent, laterProperties) ? [] : [{ do: 'retry at HubSpot', uuid: null } as const]),
        ),
  ];
}

/**
 * Reports the validation rules of the account because of which HubSpot has refused joins. The rules are taken from these refusals,
 * since HubSpot's API does not list the rules.
 */
function ofRules(refusals: Facts['ruleRefusals']): Finding {
  const rules = about('HubSpot rules');
  if (!('said' in refusals))
    return rules.unknown(`Whether joins were refused by them is not known (${reasonOf(refusals)}).`);
  const { said } = refusals;
  if (said.length === 0)
    return rules.ok(
      'No join is refused by one. They are not listed: look at Settings, Objects, Contacts, Create Record for what every new contact must have.',
    );
  return rules.missing(
    `${said[0]!.reason} It holds up ${said[0]!.joins === 1 ? 'a join' : `${said[0]!.joins} joins`}, until they are sent again.${said.length > 1 ? ` And ${said.length - 1} more.` : ''}`,
    { do: 'retry at HubSpot', uuid: null },
    ...(said.length > 1 ? [{ do: 'look at what HubSpot refuses' } as const] : []),
  );
}

/**
 * Returns a sentence about what happens to joins while properties are missing. `absent` has all missing properties; `later` has
 * the properties that joins can do without.
 */
function lackingMeans(absent: readonly string[], later: readonly string[]): string {
  return areLater(absent, later)
    ? `Until then joins are told without ${absent.length === 1 ? 'it' : 'them'}.`
    : 'Until then HubSpot refuses joins that write there; afterwards they must be sent again.';
}

function areLater(absent: readonly string[], later: readonly string[]): boolean {
  return absent.every((name) => later.includes(name));
}

/** Compares the token's account with the account whose contacts the database has. No finding if one of them is not known. */
function ofAccount(present: Facts['hubspot']['account'], kept: Facts['keptAccount']): Finding[] {
  const account = about('HubSpot account');
  if (!('said' in present) || !('said' in kept) || present.said === null || kept.said === null) return [];
  return [
    present.said === kept.said
      ? account.ok(`It is ${kept.said}, as before.`)
      : account.missing(
          `HUBSPOT_ACCESS_TOKEN is of account ${present.said}, and the contacts in the database are of ${kept.said}. Set a key of account ${kept.said}. If the society has moved, say so.`,
          { do: 'move to HubSpot account', account: present.said },
        ),
  ];
}
