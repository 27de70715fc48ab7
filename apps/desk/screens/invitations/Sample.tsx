import { Button } from '#ui/Button.tsx';
import { download } from '../../lib/download.ts';

const SAMPLE = [
  'code,contactId,firstName,lastName,email,school,programme,expiresAt',
  'EXAMPLE23,123456789,Jordan,Rivera,jordan.rivera@example.com,,,',
  'SCHOOL2345,,,,,Lincoln High School,,2027-06-30',
  '',
].join('\r\n');

/** A link to a sample file, which staff can fill in and upload. */
export function Sample() {
  return (
    <p>
      <Button variant="plain" onClick={() => download('invitations-sample.csv', SAMPLE)}>
        Download a sample file
      </Button>
    </p>
  );
}
