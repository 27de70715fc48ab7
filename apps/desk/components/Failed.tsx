import { useLocation, useRevalidator, useRouteError } from 'react-router';
import { ApiError, messageOf, Unsent } from '#client/failures.ts';
import { Button } from '#ui/Button.tsx';
import { PageHeading } from '#ui/PageHeading.tsx';
import { Stack } from '#ui/Text.tsx';
import { Gone } from './Gone.tsx';

const NOT_LOADED = 'This could not be loaded.';

/** Shown in place of a page that could not be loaded. */
export function PageFailed() {
  const error = useRouteError();
  const { state, revalidate } = useRevalidator();
  const { pathname } = useLocation();
  if (error instanceof ApiError && error.status === 404)
    return <Gone what={pathname.startsWith('/invitations') ? 'page' : 'person'} />;
  return (
    <>
      <PageHeading title={NOT_LOADED} takesFocus />
      <Stack>
        <Why error={error} />
        <Button slim busy={state === 'loading' && 'Trying…'} onClick={() => tryAgain(error, revalidate)}>
          Try again
        </Button>
      </Stack>
    </>
  );
}

/** After an error in the page's own code, only a reload of the document helps. After a failed call, its data are loaded again. */
function tryAgain(error: unknown, revalidate: () => Promise<void>): void {
  if (error instanceof ApiError || error instanceof Unsent) void revalidate();
  else window.location.reload();
}

/** Shown in place of a part of a page that could not be loaded. */
export function PartFailed({
  error,
  isTrying,
  onTry,
}: {
  error: unknown;
  isTrying: boolean;
  onTry: () => void;
}) {
  return (
    <div role="alert">
      <p>
        <strong>{NOT_LOADED}</strong>
      </p>
      <Stack>
        <Why error={error} />
        <Button variant="second" slim busy={isTrying && 'Trying…'} onClick={onTry}>
          Try again
        </Button>
      </Stack>
    </div>
  );
}

function Why({ error }: { error: unknown }) {
  const reference = error instanceof ApiError ? error.reference : undefined;
  return (
    <>
      <p>
        {messageOf(
          error,
          error instanceof Unsent ? 'Please check your connection.' : 'Something went wrong.',
        )}
      </p>
      {reference && <p>Reference: {reference}</p>}
    </>
  );
}
