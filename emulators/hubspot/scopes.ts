import { CrmError } from './errors.ts';

/**
 * The scopes of the emulated account's token
 * (https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/scopes).
 */
export const FIRST_SCOPES: readonly string[] = [
  'crm.objects.contacts.read',
  'crm.objects.contacts.write',
  'crm.schemas.contacts.write',
  'files',
];

/**
 * Throws the CRM's error 403 unless the token has at least one of the scopes in `oneOf`. If `oneOf` is empty, the call needs no
 * scope.
 */
export function assertGranted(granted: readonly string[], oneOf: readonly string[]): void {
  if (oneOf.length === 0 || oneOf.some((scope) => granted.includes(scope))) return;
  throw new CrmError(
    403,
    'MISSING_SCOPES',
    "This app hasn't been granted all required scopes to make this call. Read more about required scopes here: https://developers.hubspot.com/scopes.",
    [
      {
        message: 'One or more of the following scopes are required.',
        context: { requiredGranularScopes: [...oneOf] },
      },
    ],
  );
}
