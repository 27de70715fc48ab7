import { useNavigate } from 'react-router';
import { Button } from '#ui/Button.tsx';
import { call } from '../lib/api.ts';
import { getStartedPath } from '../lib/getStartedPath.ts';
import { forgetSession, payLink, startOver, storedSession } from '../lib/session.ts';

/** Ends the pay link that this tab has made, if any. The call is not awaited: if it fails, the link simply expires. */
function endPayLink(): void {
  const uuid = storedSession();
  if (uuid && payLink.recall())
    call('endPayLink', { params: { uuid }, body: {}, quiet: true }).catch(() => {});
}

/**
 * A button that removes the stored session id and its drafts, and goes to the home page (specification, section 4) in the join's
 * programme. The home page offers to undo this, except with `isLost` (the session cannot continue).
 */
export function StartOver({ isLost, disabled }: { isLost?: boolean; disabled?: boolean }) {
  const navigate = useNavigate();
  return (
    <Button
      variant="quiet"
      disabled={disabled}
      onClick={() => {
        const path = getStartedPath();
        endPayLink();
        if (isLost) forgetSession();
        // Takes the URL from the window. On the payment return page, the router's location still has Stripe's secret parameters,
        // which have been removed from the window's URL.
        else startOver(window.location.pathname + window.location.search);
        void navigate(path);
      }}
    >
      Start Over
    </Button>
  );
}
