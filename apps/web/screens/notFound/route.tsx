import { screens } from '#core/navigation.ts';
import { Stack } from '#ui/Text.tsx';
import { ButtonLink } from '../../components/ButtonLink.tsx';
import { Card } from '../../components/Card.tsx';
import { getStartedPath } from '../../lib/getStartedPath.ts';
import { storedSession } from '../../lib/session.ts';

export function Component() {
  // A visitor without a join can get here, because the guard lets some unknown paths through.
  const hasJoin = storedSession() !== null;
  return (
    <Card title="Page not found">
      <Stack>
        <p>
          There is no page at this address.
          {hasJoin && ' Your registration is safe, and continues where you left off.'}
        </p>
        {hasJoin && <ButtonLink to={screens.studentDetails}>Continue your registration</ButtonLink>}
        <ButtonLink variant={hasJoin ? 'plain' : 'main'} to={getStartedPath()}>
          Get Started
        </ButtonLink>
      </Stack>
    </Card>
  );
}
