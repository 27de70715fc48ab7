import { type LoaderFunctionArgs, redirect } from 'react-router';
import { screens } from '#core/navigation.ts';
import { Stack } from '#ui/Text.tsx';
import { ButtonLink } from '../../components/ButtonLink.tsx';
import { Card } from '../../components/Card.tsx';
import { getStartedPath } from '../../lib/getStartedPath.ts';
import { storedSession } from '../../lib/session.ts';

/** Redirects to the upgrade with the same query. Without a session, the screen explains what to do. */
export function loader({ request }: LoaderFunctionArgs) {
  return storedSession() ? redirect(screens.upgrade + new URL(request.url).search) : null;
}

export function Component() {
  return (
    <Card title="Upgrade Membership">
      <Stack>
        <p>
          An upgrade is offered right after you join, in the browser you used. This browser holds no
          registration, so there is nothing to upgrade here yet.
        </p>
        <ButtonLink to={getStartedPath()}>Get Started</ButtonLink>
      </Stack>
    </Card>
  );
}
