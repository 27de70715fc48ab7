import { useNavigate } from 'react-router';
import { forgetSession, startOver } from '../lib/session.ts';
import { Button } from './Button.tsx';

/**
 * A button that removes the stored session id and its drafts and goes to the home page (specification, section 4). The home page
 * offers to undo this, except with `isLost` (the session cannot continue).
 */
export function StartOver({ isLost = false }: { isLost?: boolean }) {
  const navigate = useNavigate();
  return (
    <Button
      variant="quiet"
      onClick={() => {
        if (isLost) forgetSession();
        // Takes the address from the window, because the router's location still has the secret parameters of Stripe's return URL.
        else startOver(window.location.pathname + window.location.search);
        void navigate('/');
      }}
    >
      Start Over
    </Button>
  );
}
